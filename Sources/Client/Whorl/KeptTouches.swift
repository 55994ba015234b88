internal import Primitives
internal import SDBus
internal import SecretModel
internal import Synchronization

/// Contexts in which a person has shown something that counts for later requests as well. Each is kept for a purpose,
/// which names the program that may use it, and ends after a time or with the program that keeps it.
package final class KeptTouches<Purpose: Hashable & Sendable>: Sendable {
  private struct Kept {
    let context: AuthenticationContext
    /// When it ends, in nanoseconds since the machine started, including sleep; the largest number: it stays.
    let end: UInt64
    /// Later ones have greater numbers.
    let number: UInt64
  }

  private struct State {
    var kept: [Purpose: Kept] = [:]
    var lastNumber: UInt64 = 0
  }

  private let limit: Int
  private let state = Mutex(State())

  /// - Parameter limit: how many are kept. Each keeps a context open in the vault, which has a limit, so the one that
  ///   ends first gives way, and then the oldest.
  package init(limit: Int = 512) { self.limit = limit }

  package var isEmpty: Bool { state.withLock { $0.kept.isEmpty } }

  /// The context for a purpose; nil if none is kept, or its time is over. It asks nobody.
  package func context(for purpose: Purpose) -> AuthenticationContext? {
    state.withLock { state in
      guard let kept = state.kept[purpose] else { return nil }
      guard SystemClock.sinceBoot.nanoseconds < kept.end else {
        state.kept[purpose] = nil
        return nil
      }
      return kept.context
    }
  }

  /// Runs a call with the touch that is kept for a purpose. Nil if there is none, or if it no longer counts: the fingers
  /// have changed, or the vault was started again. It is then forgotten.
  package func reuse<Value>(
    _ purpose: Purpose, _ call: (AuthenticationContext) async throws(VaultError) -> Value
  ) async throws(VaultError) -> Value? {
    guard let context = context(for: purpose) else { return nil }
    do throws(VaultError) {
      return try await call(context)
    } catch .interactionNotAllowed, .contextInvalidated, .systemCancelled {
      state.withLock { state in
        if state.kept[purpose]?.context === context { state.kept[purpose] = nil }
      }
      return nil
    }
  }

  /// Keeps a context that asks nobody any more. It takes the place of an earlier one for this purpose.
  ///
  /// - Parameter time: how long; nil until it is forgotten.
  package func keep(_ context: AuthenticationContext, for purpose: Purpose, lasting time: Duration?) {
    let end = time.map { SystemClock.sinceBoot.nanoseconds + $0.microseconds * 1_000 } ?? .max
    let number = state.withLock { state in
      state.lastNumber += 1
      state.kept[purpose] = Kept(context: context, end: end, number: state.lastNumber)
      if state.kept.count > limit,
        let first = state.kept.min(by: { ($0.value.end, $0.value.number) < ($1.value.end, $1.value.number) })
      {
        state.kept[first.key] = nil
      }
      return state.lastNumber
    }
    guard let time else { return }
    // The timer does not count sleep, so `end` is checked as well.
    _ = LoopTimer(after: time) { [weak self] in
      self?.state.withLock { state in
        if state.kept[purpose]?.number == number { state.kept[purpose] = nil }
      }
    }
  }

  /// Forgets what is kept for these purposes. A context ends when no call uses it any more.
  package func forget(where isMeant: (Purpose) -> Bool = { _ in true }) {
    state.withLock { state in state.kept = state.kept.filter { !isMeant($0.key) } }
  }
}
