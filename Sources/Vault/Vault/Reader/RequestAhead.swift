import Synchronization

/// The request that has the reader while another waits.
struct RequestAhead: Sendable, Hashable {
  /// What the waiting program is told.
  let use: ReaderUse
  /// The call that can be rejected; nil if it is another user's or another vault's.
  var call: ContextCall?
}

/// The request ahead, as last reported to a context's listener.
final class ToldAhead: Sendable {
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
  func call(toldBy notice: Int) -> ContextCall? {
    told.withLock { told in told?.notice == notice ? told?.call : nil }
  }
}

extension Vault {
  /// Ends the call that has the reader, if the notice with this number reported it to this context.
  func reject(_ notice: Int, for context: Context) async {
    guard let call = context.ahead.call(toldBy: notice), let own = context.call else { return }
    // Do this before the reader is free, or the next waiting request would get it.
    await desk.advance(own)
    guard let other = contexts.context(running: call) else { return }
    other.events.yield(.notice(.rejected(by: context.client.caller.label)))
    other.cancel()
  }
}
