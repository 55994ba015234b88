import Synchronization
import VaultStore

/// The request that has the reader while another waits.
struct RequestAhead: Sendable, Hashable {
  /// The description for the waiting program.
  let use: ReaderUse
  /// The call that can be rejected; nil if it is another user's or another vault's.
  var call: ContextCall?
}

/// The request ahead, as last reported to a context's listener.
package final class ToldAhead: Sendable {
  private let told = Mutex<(notice: Int, call: ContextCall)?>(nil)

  func tell(_ ahead: RequestAhead, through events: EventSource) {
    // Send the notice under the lock, since the listener may answer before this returns.
    told.withLock { told in
      let notice = events.yield(.notice(.readerInUse(ahead.use)))
      told = ahead.call.map { (notice, $0) }
    }
  }

  /// Forgets the request ahead.
  func clear() { told.withLock { $0 = nil } }

  /// The call that the notice with this number reported; nil if a later notice has reported another.
  package func call(toldBy notice: Int) -> ContextCall? {
    told.withLock { told in told?.notice == notice ? told?.call : nil }
  }
}
