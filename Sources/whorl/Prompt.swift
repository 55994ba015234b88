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
    case .enroll(let finger):
      let count = request.reader.enrollStages
      let stages = "\(count) \(count == 1 ? "touch" : "touches")"
      return "\(verb) \(reader) with the \(finger.spokenName) finger, \(stages) in all"
    case .confirm(let finger):
      return "\(verb) \(reader) once more with the \(finger.spokenName) finger, to confirm"
    }
  }

  static func retry(_ reason: RetryReason) -> String {
    switch reason {
    case .general: "that could not be read: lift and touch again"
    case .tooShort: "too short: touch again, a little longer"
    case .centerFinger: "off centre: put the middle of the finger on the reader"
    case .removeFinger: "lift the finger, then touch again"
    case .tooFast: "too fast: touch again, a little longer"
    }
  }

  static func noMatch(remaining: Int) -> String {
    remaining == 0 ? "no match" : "no match: touch again (\(remaining) left)"
  }

  static func stage(completed: Int, of count: Int) -> String {
    "stage \(completed) of \(count)\(completed < count ? ": lift and touch again" : "")"
  }

  static func notice(_ notice: Notice) -> String {
    switch notice {
    case .unknownPrintsOnChip(let count):
      "The reader's chip also holds \(Spoken.plural(count, "print")) that this store does not know."
    case .leftOnChip(let finger, let error):
      "The print of the \(finger.spokenName) finger stays on the reader's chip: \(Failure(error).words)."
    case .passcodeDelay(let seconds):
      "The next passcode is taken in \(Spoken.duration(seconds))."
    }
  }
}
