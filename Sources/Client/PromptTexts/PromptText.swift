package import Fingerprint
package import SecretModel

/// The texts of prompts. Texts chosen by other programs, such as the names of items, pass through ``PromptLabel``.
package enum PromptText {
  /// The prompt for a touch.
  ///
  /// - Parameters:
  ///   - asker: the program for which this one asks; nil if it asks for itself.
  ///   - keys: names the keys that may be pressed instead.
  package static func touch(_ request: TouchRequest, for asker: PromptAsker? = nil, keys: String?) -> String {
    let keys = keys.map { " (\($0))" } ?? ""
    let touch = touch(request)
    switch request.purpose {
    case .enroll(let finger):
      let touches = Spoken.plural(request.reader.enrollStages, "touch", "touches")
      return "\(touch) with \(Spoken.finger(finger)), \(touches) in all\(keys)"
    case .confirm(let finger):
      return "\(touch) once more with \(Spoken.finger(finger)), to confirm\(keys)"
    case .read, .evaluate:
      let act = act(of: request)
      if let asker { return "\(asker.wants(to: act ?? "go on")) \(touch).\(keys)" }
      return "\(touch)\(act.map { " to \($0)" } ?? "")\(keys)"
    }
  }

  /// "Touch the fingerprint reader".
  package static func touch(_ request: TouchRequest) -> String {
    "\(request.reader.scanType == .swipe ? "Swipe" : "Touch") \(Spoken.theReader(request))"
  }

  /// What the touch is for, to follow "to"; nil if this is unknown. An item is a password, which is read, or a key,
  /// which is not.
  package static func act(of request: TouchRequest) -> String? {
    switch request.purpose {
    case .read(let items, let reason):
      "use \(names(items))\(reason.map { ", for: \($0)" } ?? "")"
    case .evaluate(let reason): reason
    case .enroll, .confirm: nil
    }
  }

  /// An item's name in a prompt. A password may lack its service, a key its label.
  private static func label(_ name: ItemName) -> String {
    let shown = PromptLabel.text(name.description)
    return shown.isEmpty ? "an item without a name" : shown
  }

  /// The names of items, each between quotation marks.
  private static func names(_ items: [ItemName]) -> String {
    PromptLabel.names(items.map(\.description), unnamed: "an item without a name")
  }

  /// The keys while another program of the same user uses the reader.
  package static let rejectKeys = "Ctrl-R: reject that request, Esc: cancel this one"

  /// The keys during the wait for a finger.
  package static func keys(fallback: String?, cancel: String) -> String {
    let cancel = "Esc: \(cancel)"
    return fallback.map { "Enter: \($0), \(cancel)" } ?? cancel
  }

  /// The question for a secret, without its colon. `reason` is the program's reason.
  ///
  /// - Parameter asker: the program for which this one asks; nil if it asks for itself.
  package static func question(
    _ request: SecretRequest, reason: String? = nil, for asker: PromptAsker? = nil
  ) -> String {
    switch request {
    case .passcode(let attempt):
      let wrong = attempt > 1 ? "Wrong passcode. " : ""
      if let asker { return "\(wrong)\(asker.wants(to: reason ?? "go on")) Passcode" }
      return "\(wrong)Passcode\(reason.map { " to \($0)" } ?? "")"
    case .newPasscode: return "New passcode"
    case .recoveryKey: return "Recovery key"
    case .applicationPassword(let name): return "Application password of \(label(name))"
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

  /// Why the passcode is asked for in place of a finger, as a sentence.
  package static func unavailable(_ error: VaultError) -> String {
    let what = error.explanation.what
    return "\(what.prefix(1).uppercased())\(what.dropFirst())."
  }

  /// The text of a notice.
  package static func notice(_ notice: Notice) -> String {
    switch notice {
    case .unknownPrintsOnChip(let count):
      "The reader's chip also holds \(Spoken.plural(count, "print")) that this store does not know."
    case .leftOnChip(let finger, let error):
      error == .deletesOnlyAllFingers
        ? "The print of \(Spoken.finger(finger)) stays on the reader: \(error.explanation.what). "
          + "\(error.explanation.advice)."
        : "The print of \(Spoken.finger(finger)) stays on the reader's chip: \(error.explanation.what)."
    case .goneFromChip(let fingers):
      "The reader does not hold the print of \(Spoken.fingers(fingers)) any more; what is bound to the enrolled fingers "
        + "stays closed. 'whorl unenroll FINGER' accepts that, with the passcode."
    case .changedElsewhere(let fingers, let lost):
      "The enrolled fingers were changed in fprintd by another program"
        + (fingers.isEmpty ? ". " : ": \(fingers.map(\.spokenName).joined(separator: ", ")) gone or enrolled anew. ")
        + (lost.isEmpty
          ? "Nothing was bound to the set."
          : "Destroyed with the old set of fingers: \(lost.map(label).joined(separator: ", ")).")
    case .passcodeDelay(let seconds):
      "The next passcode is accepted in \(Spoken.duration(seconds))."
    case .readerInUse(.anotherUser):
      "Another user's request has the reader; this one waits for it."
    case .unanswered:
      "Nobody answered."
    case .readerInUse(.otherVault):
      "Another program has the reader; this request waits for it."
    case .rejected(let program):
      "\(self.program(program)) has rejected this request: its own gets the reader."
    case .readerInUse(.program(let name, let items)):
      "\(program(name)) has the reader"
        + (items.isEmpty ? "" : " for \(names(items))")
        + "; this request waits for it."
    }
  }

  /// The name of a program that the vault names (`ProgramLabel`), to begin a sentence: that of its file where the path is
  /// known, and otherwise what the program calls itself.
  private static func program(_ label: String?) -> String {
    guard let label else { return "Another program" }
    if label.hasSuffix(")"), let path = label.ranges(of: " (/").last,
      let file = label[path.upperBound...].dropLast().split(separator: "/").last
    {
      return PromptLabel.word(String(file))
    }
    let own = label.firstRange(of: " (").map { label[..<$0.lowerBound] } ?? label[...]
    return "A program that calls itself “\(PromptLabel.text(String(own)))”"
  }
}
