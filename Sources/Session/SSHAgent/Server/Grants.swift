internal import Primitives
internal import SDBus
internal import SecretModel
internal import Synchronization
internal import Whorl

/// Remembers for which purposes an earlier touch is still valid: a program that signs in to a host as a user with a
/// key, for as many minutes as the key allows. The vault's context with the match is kept for that long.
final class Grants: Sendable {
  struct Purpose: Hashable {
    var key: ItemID
    /// The certificate that signs in instead of the key; nil for the key itself.
    var certificate: [UInt8]?
    /// The program's identity.
    var program: String
    /// The host's public key.
    var host: [UInt8]
    var user: String
  }

  /// The most grants. Each keeps a context open in the vault, which has a limit, so the one that ends first gives way.
  private static let limit = 512

  private struct Grant {
    let context: AuthenticationContext
    /// When it ends, in nanoseconds since the machine started, including sleep.
    let end: UInt64
  }

  private let grants = Mutex<[Purpose: Grant]>([:])

  func context(for purpose: Purpose) -> AuthenticationContext? {
    guard let grant = grants.withLock({ $0[purpose] }) else { return nil }
    guard SystemClock.sinceBoot.nanoseconds < grant.end else {
      forget(purpose, grant.context)
      return nil
    }
    return grant.context
  }

  /// Keeps a context in which the person has just shown what the key requires.
  func keep(_ context: AuthenticationContext, for purpose: Purpose, minutes: Int) {
    let time = Duration.seconds(60 * minutes)
    let end = SystemClock.sinceBoot.nanoseconds + UInt64(60 * minutes) * 1_000_000_000
    let ended: [Grant] = grants.withLock { grants in
      let earlier = grants.updateValue(Grant(context: context, end: end), forKey: purpose)
      let first = grants.count > Self.limit ? grants.min { $0.value.end < $1.value.end } : nil
      if let first { grants[first.key] = nil }
      return [earlier, first?.value].compactMap(\.self)
    }
    for grant in ended { grant.context.invalidate() }
    // The timer does not count sleep, so `end` is checked as well.
    _ = LoopTimer(after: time) { [weak self] in self?.forget(purpose, context) }
  }

  /// Ends all grants.
  func forgetAll() {
    let all = grants.withLock { grants in
      defer { grants = [:] }
      return grants.values
    }
    for grant in all { grant.context.invalidate() }
  }

  /// Removes a context, unless another one has taken its place.
  func forget(_ purpose: Purpose, _ context: AuthenticationContext) {
    grants.withLock { grants in
      if grants[purpose]?.context === context { grants[purpose] = nil }
    }
    context.invalidate()
  }
}
