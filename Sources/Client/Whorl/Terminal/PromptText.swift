package import Fingerprint
package import SecretModel

/// The texts of prompts. What other programs have chosen in them, such as the names of items, passes through
/// ``PromptLabel``.
package enum PromptText {
  /// The beginning of a prompt for another program: who asks, before anything that the program itself has chosen.
  ///
  /// - Parameter witness: the program that has found out who asks.
  package static func asked(by asker: String, says witness: String) -> String { "Asked by \(asker), says \(witness): " }

  /// The prompt for a touch; `keys` names the keys that may be pressed instead.
  package static func touch(_ request: TouchRequest, keys: String?) -> String {
    let verb = request.reader.scanType == .swipe ? "Swipe" : "Touch"
    let reader = Spoken.theReader(request.reader)
    let keys = keys.map { " (\($0))" } ?? ""
    switch request.purpose {
    case .read(let items, let reason):
      let what = items.map(label).joined(separator: ", ")
      let why = reason.map { ", for: \($0)" } ?? ""
      return "\(verb) \(reader) to release \(what)\(why)\(keys)"
    case .evaluate(let reason):
      return "\(verb) \(reader)\(reason.map { " to \($0)" } ?? "")\(keys)"
    case .enroll(let finger):
      let touches = Spoken.plural(request.reader.enrollStages, "touch", "touches")
      return "\(verb) \(reader) with \(Spoken.finger(finger)), \(touches) in all\(keys)"
    case .confirm(let finger):
      return "\(verb) \(reader) once more with \(Spoken.finger(finger)), to confirm\(keys)"
    }
  }

  /// An item's name in a prompt. A password may lack its service, a key its label.
  private static func label(_ name: ItemName) -> String {
    let shown = PromptLabel.text(name.description)
    return shown.isEmpty ? "an item without a name" : shown
  }

  /// The keys while another program of the same user uses the reader.
  static let rejectKeys = "Ctrl-R: reject that request, Esc: cancel this one"

  /// The keys during the wait for a finger.
  package static func keys(fallback: String?, cancel: String) -> String {
    let cancel = "Esc: \(cancel)"
    return fallback.map { "Enter: \($0), \(cancel)" } ?? cancel
  }

  /// The question for a secret, without its colon. `reason` is the program's reason.
  package static func question(_ request: SecretRequest, reason: String? = nil) -> String {
    let why = reason.map { " to \($0)" } ?? ""
    return switch request {
    case .passcode(let attempt): "\(attempt > 1 ? "Wrong passcode. " : "")Passcode\(why)"
    case .newPasscode: "New passcode"
    case .recoveryKey: "Recovery key"
    case .applicationPassword(let name): "Application password of \(label(name))"
    }
  }

  package static func retry(_ reason: RetryReason) -> String {
    switch reason {
    case .general: "That could not be read: lift and touch again"
    case .tooShort: "Too short: touch again, a little longer"
    case .centerFinger: "Off centre: put the middle of the finger on the reader"
    case .removeFinger: "Lift the finger, then touch again"
    case .tooFast: "Too fast: touch again, a little longer"
    }
  }

  package static func noMatch(remaining: Int) -> String {
    remaining == 0 ? "No match" : "No match, \(Spoken.plural(remaining, "touch", "touches")) left"
  }

  package static func stage(completed: Int, of count: Int) -> String {
    "Stage \(completed) of \(count)\(completed < count ? ": lift and touch again" : "")"
  }

  /// The text of a notice. `explain` describes an error of the reader.
  package static func notice(_ notice: Notice, explain: (VaultError) -> String) -> String {
    switch notice {
    case .unknownPrintsOnChip(let count):
      "The reader's chip also holds \(Spoken.plural(count, "print")) that this store does not know."
    case .leftOnChip(let finger, let error):
      "The print of \(Spoken.finger(finger)) stays on the reader's chip: \(explain(.reader(error)))."
    case .goneFromChip(let fingers):
      "The reader does not hold the print of \(Spoken.fingers(fingers)) any more; what is bound to the enrolled fingers "
        + "stays closed. 'whorl unenroll FINGER' accepts that, with the passcode."
    case .changedElsewhere(let fingers, let lost):
      "The enrolled fingers were changed in fprintd by another program"
        + (fingers.isEmpty ? ". " : ": \(fingers.map(\.spokenName).joined(separator: ", ")) gone or enrolled anew. ")
        + (lost.isEmpty
          ? "Nothing was bound to the set."
          : "Dead with the old set: \(lost.map(label).joined(separator: ", ")).")
    case .passcodeDelay(let seconds):
      "The next passcode is accepted in \(Spoken.duration(seconds))."
    case .readerInUse(.anotherUser):
      "Another user's request has the reader; this one waits for it."
    case .readerInUse(.otherVault):
      "Another program has the reader; this request waits for it."
    case .rejected(let program):
      "\(program ?? "Another program") has rejected this request: its own gets the reader."
    case .readerInUse(.program(let name, let items)):
      "\(name ?? "Another program") has the reader"
        + (items.isEmpty ? "" : " for \(items.map(label).joined(separator: ", "))")
        + "; this request waits for it."
    }
  }
}
