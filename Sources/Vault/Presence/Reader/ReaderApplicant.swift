import Fingerprint
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
