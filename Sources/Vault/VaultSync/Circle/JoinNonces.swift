package import SecretModel
import Synchronization

/// The nonces of this store's requests to join a circle, in memory only.
package final class JoinNonces: Sendable {
  private let nonce = Mutex<(id: MemberID, nonce: JoinNonce)?>(nil)

  package init() {}

  /// Keeps the nonce of a new request, in place of that of an earlier one.
  package func keep(_ new: JoinNonce, of id: MemberID) { nonce.withLock { $0 = (id, new) } }

  /// Hands out the nonce of a request, once.
  package func take(of id: MemberID) -> JoinNonce? {
    nonce.withLock { kept in
      guard let found = kept, found.id == id else { return nil }
      kept = nil
      return found.nonce
    }
  }
}
