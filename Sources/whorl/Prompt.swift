import Fingerprint
import Vault

/// The words a person is spoken to with.
enum Prompt {
  static func touch(_ request: TouchRequest, orEnter: Bool) -> String {
    let verb = request.reader.scanType == .swipe ? "Swipe" : "Touch"
    let reader = "the reader\(Spoken.nature(request.reader.nature))"
    switch request.purpose {
    case .read(let items, let reason):
      let what = items.map(\.description).joined(separator: ", ")
      let why = reason.map { ", for: \($0)" } ?? ""
      return "\(verb) \(reader) to release \(what)\(why)\(orEnter ? " (Enter: passcode)" : "")"
    case .evaluate(let reason):
      return "\(verb) \(reader)\(reason.map { ", for: \($0)" } ?? "")\(orEnter ? " (Enter: passcode)" : "")"
    case .enroll(let finger):
      let touches = Spoken.plural(request.reader.enrollStages, "touch", "touches")
      return "\(verb) \(reader) with \(Spoken.finger(finger)), \(touches) in all"
    case .confirm(let finger):
      return "\(verb) \(reader) once more with \(Spoken.finger(finger)), to confirm"
    }
  }

  static func retry(_ reason: RetryReason) -> String {
    switch reason {
    case .general: "That could not be read: lift and touch again"
    case .tooShort: "Too short: touch again, a little longer"
    case .centerFinger: "Off centre: put the middle of the finger on the reader"
    case .removeFinger: "Lift the finger, then touch again"
    case .tooFast: "Too fast: touch again, a little longer"
    }
  }

  static func noMatch(remaining: Int) -> String {
    remaining == 0 ? "No match" : "No match, \(Spoken.plural(remaining, "touch", "touches")) left"
  }

  static func stage(completed: Int, of count: Int) -> String {
    "Stage \(completed) of \(count)\(completed < count ? ": lift and touch again" : "")"
  }

  static func notice(_ notice: Notice) -> String {
    switch notice {
    case .unknownPrintsOnChip(let count):
      "The reader's chip also holds \(Spoken.plural(count, "print")) that this store does not know."
    case .leftOnChip(let finger, let error):
      "The print of \(Spoken.finger(finger)) stays on the reader's chip: \(Failure(error).words)."
    case .goneFromChip(let fingers):
      "The reader does not hold the print of \(Spoken.fingers(fingers)) any more; what is bound to the enrolled fingers "
        + "stays closed. 'whorl unenroll FINGER' accepts that, with the passcode."
    case .changedElsewhere(let fingers, let lost):
      "The enrolled fingers were changed in fprintd by another program"
        + (fingers.isEmpty ? ". " : ": \(fingers.map(\.spokenName).joined(separator: ", ")) gone or enrolled anew. ")
        + (lost.isEmpty
          ? "Nothing was bound to the set."
          : "Dead with the old set: \(lost.map(\.description).joined(separator: ", ")).")
    case .passcodeDelay(let seconds):
      "The next passcode is accepted in \(Spoken.duration(seconds))."
    }
  }
}
