import Synchronization

/// One client of a vault, for as long as its session lasts. Its contexts name it, and nobody else's calls reach them.
final class Client: Sendable {
  /// A finger's match, and when it was, in nanoseconds since boot.
  struct Match: Sendable {
    let grant: PresenceGrant
    let at: UInt64
  }

  let caller: Caller
  private let match = Mutex<Match?>(nil)

  init(_ caller: Caller) { self.caller = caller }

  /// The last match in a context of this client, for its contexts that accept a recent one.
  var lastMatch: Match? {
    get { match.withLock { $0 } }
    set { match.withLock { $0 = newValue } }
  }
}

/// One call: whose it is, and who is asked for it.
struct Request: Sendable {
  let client: Client
  let asking: Asking

  init(of client: Client, _ asking: Asking) {
    self.client = client
    self.asking = asking
  }
}
