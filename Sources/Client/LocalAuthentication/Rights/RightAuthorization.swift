internal import Executors
internal import KeychainServices
internal import SecretModel
internal import Synchronization
internal import Whorl

/// Whether a right is authorized, and the context that holds the proof. The right alone owns it: when the right goes, so
/// does the proof.
final class RightAuthorization: Sendable {
  enum Phase: Int {
    case unknown = 0
    case authorizing = 1
    case authorized = 2
    case notAuthorized = 3
  }

  private struct State {
    var phase = Phase.unknown
    var context: AuthenticationContext?
    /// The enrolled fingers when the right was authorized.
    var fingers: [UInt8]?
    /// The enrolled fingers to which a right that is not saved is bound, from its first use on.
    var bound: [UInt8]?
    /// Ends the authorization when the store is locked.
    var watch: Task<Void, Never>?
  }

  let access: AccessControl
  /// The key of a saved right.
  let item: ItemID?
  private let state = Mutex(State())

  init(_ access: AccessControl, item: ItemID? = nil) {
    self.access = access
    self.item = item
  }

  deinit {
    state.withLock { state in
      state.watch?.cancel()
      state.context?.invalidate()
    }
  }

  /// Throws where the person could not satisfy the requirement now. Asks nobody.
  @discardableResult
  func check() async throws(VaultError) -> Biometry {
    let store = try SecretStore.shared()
    if let item {
      let found = try await store.items(ItemSearch(ids: [item], synchronizable: .any, states: [.living, .dead]))
      guard let found = found.first else { throw .itemGone }
      // The fingers or the passcode that it was bound to are gone.
      guard found.state == .living else { throw .notEnrolled }
    }
    let biometry = try await store.biometry()
    if item == nil, access.flags.contains(.biometryCurrentSet), let current = biometry.state {
      let bound = state.withLock { state in
        state.bound = state.bound ?? current
        return state.bound
      }
      guard bound == current else { throw .notEnrolled }
    }
    let takesPasscode = !access.flags.isDisjoint(with: [.userPresence, .devicePasscode])
    if let problem = biometry.problem(for: takesPasscode ? .deviceOwner : .biometrics) { throw problem }
    return biometry
  }

  /// Asks the person, unless the right is authorized already.
  func authorize(_ reason: String) async throws(VaultError) {
    guard reason.contains(where: { !$0.isWhitespace }) else {
      throw .invalidRequest("an authorization needs a reason to show")
    }
    await confirm()
    let made = try SecretStore.shared().makeContext()
    let context = state.withLock { state in
      let context = state.context ?? made
      if state.phase != .authorized { state.phase = .authorizing }
      state.context = context
      return context
    }
    do throws(VaultError) {
      let biometry = try await check()
      context.options.interactionNotAllowed = false
      _ = try await context.evaluate(.access(access), reason: reason)
      // From now on only what was shown counts.
      context.options.interactionNotAllowed = true
      let kept = state.withLock { state in
        guard state.context === context else { return false }
        (state.phase, state.fingers) = (.authorized, biometry.state)
        state.watch = state.watch ?? watch()
        return true
      }
      guard kept else { throw .appCancelled }
    } catch {
      end(context)
      throw error
    }
  }

  /// Ends the authorization. A running call throws `appCancelled`.
  func deauthorize() { end(nil) }

  /// The phase, after asking the vault whether an authorization still holds.
  func currentPhase() async -> Phase {
    await confirm()
    return state.withLock { $0.phase }
  }

  /// The context of an authorized right, which asks nobody.
  ///
  /// - Throws: `interactionNotAllowed` where the right is not authorized.
  func provenContext() throws(VaultError) -> AuthenticationContext {
    let context = state.withLock { $0.phase == .authorized ? $0.context : nil }
    guard let context else { throw .interactionNotAllowed }
    return context
  }

  /// Ends the authorization; with a context only if it is still that one's.
  func end(_ context: AuthenticationContext?) {
    let ended = state.withLock { state -> AuthenticationContext? in
      if let context, state.context !== context { return nil }
      let ended = state.context
      state.watch?.cancel()
      (state.phase, state.context, state.fingers, state.watch) = (.notAuthorized, nil, nil, nil)
      return ended
    }
    ended?.invalidate()
  }

  /// Ends an authorization that does not hold any more: the fingers have changed, the connection has ended, the store or
  /// the session is locked, or the right was removed.
  private func confirm() async {
    let (context, fingers) = state.withLock { ($0.phase == .authorized ? $0.context : nil, $0.fingers) }
    guard let context else { return }
    do throws(VaultError) {
      let store = try SecretStore.shared()
      // The context's own connection answers, and says whether the item would have to ask.
      var search = ItemSearch(ids: item.map { [$0] } ?? [], synchronizable: .any)
      search.interaction = .fail
      let found = try await store.items(search, using: context)
      guard item == nil || !found.isEmpty, try await store.isUnlocked(), try await context.biometry().state == fingers
      else { return end(context) }
    } catch {
      end(context)
    }
  }

  private func watch() -> Task<Void, Never> {
    Task(executorPreference: BackgroundThread.shared) { [weak self] in
      guard let store = try? SecretStore.shared() else { return }
      do throws(VaultError) {
        while !Task.isCancelled {
          if try await store.unlockChange(fromLocked: false) { break }
        }
      } catch {
        // Without an answer the authorization is checked at its next use.
        return
      }
      if !Task.isCancelled { self?.end(nil) }
    }
  }
}
