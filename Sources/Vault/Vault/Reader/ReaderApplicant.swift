import Fingerprint

/// A request for the reader: whose it is, and what the touch is for.
struct ReaderApplicant: Sendable {
  let caller: Caller
  /// Nil where the reader is looked at and nobody is asked for a touch.
  let purpose: TouchRequest.Purpose?

  var program: Program { Program(of: caller) }

  /// Tells one program of a user from another: by its name, which outlives a run, where it has one.
  struct Program: Hashable, Sendable {
    private let user: UInt32
    private let label: String?
    private let process: Caller.ProcessInstance?

    init(of caller: Caller) {
      user = caller.user
      label = caller.label
      process = caller.label == nil ? caller.process : nil
    }
  }

  /// What another request is told of this one. The names of one user's items are no other's business.
  func use(toldTo other: ReaderApplicant) -> ReaderUse {
    guard caller.user == other.caller.user else { return .anotherUser }
    guard case .read(let items, _) = purpose else { return .program(caller.label, items: []) }
    return .program(caller.label, items: items)
  }
}
