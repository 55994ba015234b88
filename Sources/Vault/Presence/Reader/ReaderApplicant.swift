import Primitives
import Synchronization
import VaultStore

/// A request for the reader: the caller, and the purpose of the touch.
struct ReaderApplicant: Sendable {
  let caller: Caller
  /// Nil if no touch is asked for.
  let purpose: TouchRequest.Purpose?
  /// The call that asks; nil for the vault's own checks of a reader.
  var call: ContextCall?
  /// Whether the reader is lent, until the borrower returns it.
  var isLoan = false

  /// Whether the request ends soon, without a person. Such a request ahead is not reported to others.
  var isBrief: Bool { purpose == nil && !isLoan }

  var program: Program { Program(of: caller) }

  /// Identifies a program of a user by its file, as the kernel reports it: independent of the name it gives itself, and
  /// of restarts.
  struct Program: Hashable, Sendable {
    private let user: UInt32
    private let file: ProgramFile

    init(of caller: Caller) { (user, file) = (caller.user, caller.file) }
  }

  /// The description of this request for another one. Only programs of the same user get names of items.
  func ahead(of other: ReaderApplicant) -> RequestAhead {
    guard caller.user == other.caller.user else { return RequestAhead(use: .anotherUser) }
    let items = if case .read(let items, _) = purpose { items } else { [ItemName]() }
    return RequestAhead(use: .program(caller.label, items: items), call: call)
  }
}

/// A call in a context of a vault, running or ended.
package struct ContextCall: Sendable, Hashable {
  let context: ContextHandle
  /// The number of the call in the context.
  let number: UInt64
}

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
