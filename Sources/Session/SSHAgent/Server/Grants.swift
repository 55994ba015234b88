internal import SDBus
internal import SecretModel
internal import Synchronization
internal import Whorl

/// Remembers for which purposes an earlier touch is still valid: a program that signs in to a host as a user with a
/// key, for as many minutes as the key allows. The vault's context with the match is kept for that long.
final class Grants: Sendable {
  struct Purpose: Hashable {
    var key: ItemID
    /// The path of the program's executable.
    var program: String
    /// The host's public key.
    var host: [UInt8]
    var user: String
  }

  private let contexts = Mutex<[Purpose: AuthenticationContext]>([:])

  func context(for purpose: Purpose) -> AuthenticationContext? { contexts.withLock { $0[purpose] } }

  /// Keeps a context in which the person has just shown what the key requires.
  func keep(_ context: AuthenticationContext, for purpose: Purpose, minutes: Int) {
    let isNew = contexts.withLock { contexts in
      guard contexts[purpose] == nil else { return false }
      contexts[purpose] = context
      return true
    }
    guard isNew else { return }
    _ = LoopTimer(after: .seconds(60 * minutes)) { [weak self] in self?.forget(purpose) }
  }

  /// Removes a context when its time is over, or when the person would have to be asked again in it.
  func forget(_ purpose: Purpose) {
    contexts.withLock { $0.removeValue(forKey: purpose) }?.invalidate()
  }
}
