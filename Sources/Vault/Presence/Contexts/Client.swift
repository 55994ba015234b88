package import SecretModel
import Synchronization
import VaultStore

/// One client of a vault, for the length of its session. Only its own calls reach its contexts.
package final class Client: Sendable {
  /// A match, and its time in nanoseconds since boot.
  struct Match: Sendable {
    let grant: PresenceGrant
    let at: UInt64
  }

  package let caller: Caller
  private let match = Mutex<Match?>(nil)

  package init(_ caller: Caller) { self.caller = caller }

  /// The last match in a context of this client, for contexts that accept a recent one.
  var lastMatch: Match? {
    get { match.withLock { $0 } }
    set { match.withLock { $0 = newValue } }
  }
}

/// One call: its client, and the context in which it may ask.
package struct Request: Sendable {
  let client: Client
  package let asking: Asking

  package init(of client: Client, _ asking: Asking) {
    self.client = client
    self.asking = asking
  }
}
