import Fingerprint
import VaultStore

/// A request for the reader: the caller, and the purpose of the touch.
struct ReaderApplicant: Sendable {
  let caller: Caller
  /// Nil where no touch is asked for.
  let purpose: TouchRequest.Purpose?
  /// The call that asks; nil for the vault's own checks of a reader.
  var call: ContextCall?
  /// Whether the reader is lent, for as long as the borrower wants.
  var isLoan = false

  /// Whether the reader is free again in a moment, without a person. Nobody needs to be told of such a request ahead.
  var isBrief: Bool { purpose == nil && !isLoan }

  var program: Program { Program(of: caller) }

  /// Identifies a program of a user by the file that the kernel reports. A program that is renamed, that is started again
  /// or that takes another's name stays the same.
  struct Program: Hashable, Sendable {
    private let user: UInt32
    private let file: ProgramFile

    init(of caller: Caller) { (user, file) = (caller.user, caller.file) }
  }

  /// What another request is told about this one. Names of items are told only to programs of the same user.
  func ahead(of other: ReaderApplicant) -> RequestAhead {
    guard caller.user == other.caller.user else { return RequestAhead(use: .anotherUser) }
    let items = if case .read(let items, _) = purpose { items } else { [ItemName]() }
    return RequestAhead(use: .program(caller.label, items: items), call: call)
  }
}
