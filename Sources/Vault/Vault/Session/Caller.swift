import Synchronization

/// Who speaks on a connection, as the kernel says it.
package struct Caller: Sendable, Hashable {
  /// The user, for whom the store that is opened has to be.
  package var user: UInt32
  /// The program, told by its start time from another that gets its number later; nil where the vault is in the
  /// caller's own process.
  package var process: ProcessInstance?

  /// One run of a program.
  package struct ProcessInstance: Sendable, Hashable {
    package var id: Int32
    /// In clock ticks since boot, as `/proc/ID/stat` has it.
    package var started: UInt64

    package init(id: Int32, started: UInt64) {
      self.id = id
      self.started = started
    }
  }

  package init(user: UInt32, process: ProcessInstance? = nil) {
    self.user = user
    self.process = process
  }
}

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
