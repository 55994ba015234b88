import SecretModel
import Whorl

extension FingerLook {
  /// The message for a store without fingers, and the command that enrols one.
  var absence: (words: String, command: [String]) {
    switch problem {
    case .printsGone?:
      ("none: those of this store were deleted in the desktop's settings or with fprintd-delete", ["enroll"])
    case .fingersNotAccepted?: ("fprintd's are not accepted with the passcode yet", ["reader", "use", "fprintd"])
    case .reader(let error)? where error != .absent:
      ("those in fprintd cannot be seen now: \(Failure(error).what)", ["enroll"])
    default: ("none enrolled", ["enroll"])
    }
  }

  /// ``absence`` as advice.
  var advice: String {
    "'whorl \(absence.command.joined(separator: " "))' \(absence.command == ["enroll"] ? "enrols one" : "accepts them")"
  }
}
