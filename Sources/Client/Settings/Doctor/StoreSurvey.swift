package import Primitives
internal import Prompts
internal import ReaderBus
package import SecretModel

/// The state of a store: its keys, its passcode and fingers, what is open, and the readers that are attached.
package struct StoreSurvey: Sendable {
  package let status: VaultStatus
  /// How the store's keys are held.
  package let keys: String
  /// The attached readers, or why they cannot be listed.
  package let readers: Result<[ReaderDescription], Failure>
  /// The reader that the next request would use, and why; nil if it would use none.
  package let choice: (reader: ReaderDescription, reason: String)?
  private let isAutomatic: Bool

  package init(_ context: some SettingsContext) async throws(Failure) {
    let look = try await FingerLook(context)
    let list = look.readers
    status = look.status
    keys = status.tier.spoken(in: try context.place())
    readers =
      if list.readers.isEmpty, let problem = list.problem, problem != .reader(.absent) {
        .failure(context.explained(problem))
      } else {
        .success(list.readers)
      }
    isAutomatic = context.selection == .automatic
    if let chosen = list.chosen, chosen.identity.adapter.sharesFingers || chosen.nature == .physical {
      let reason =
        switch (context.selection, status.adapter) {
        case (.automatic, let recorded?): recorded.reason
        case (.automatic, nil) where chosen.identity.adapter.sharesFingers: "fprintd has it"
        case (.automatic, nil): "fprintd has none"
        default: "asked for with \(context.selection)"
        }
      choice = (chosen, reason)
    } else {
      choice = nil
    }
  }

  /// What a person wants to know of it, in order.
  package var findings: [Finding] {
    func note(_ subject: String, _ words: String) -> Finding {
      Finding(subject: subject, state: .note, words: words)
    }
    var found = [note("store", status.directory), note("keys", keys)]
    if !status.registers.isEmpty { found.append(note("sealed to", registers)) }
    found += [note("items", "\(status.items)"), .passcode(of: status), note("fingers", lockout)]
    if status.firstUnlock != .none { found.append(note("unlocked", unlocked)) }
    if let delay = Finding.delay(of: status) { found.append(delay) }
    if let acceptance = status.restore {
      let command = acceptance == .recoveryKeyAndNewPasscode ? "recover" : "unlock"
      found.append(
        note(
          "restored",
          "an earlier copy was put back; 'whorl \(command)' lists it and accepts it with the \(acceptance.rawValue)"))
    }
    for set in status.sets {
      let fingers = set.fingers.map(\.finger.rawValue).joined(separator: ", ")
      let reader = "\(set.reader.driver)\(Spoken.nature(set.nature))"
      found.append(
        note(
          "enrolled",
          "\(fingers.isEmpty ? "none" : fingers) on \(reader), \(Spoken.plural(set.boundItems, "item")) bound"))
    }
    switch readers {
    case .success(let attached):
      found += attached.map { note("reader", words(for: $0)) }
      if choice == nil, isAutomatic, !attached.isEmpty, let recorded = status.adapter {
        found.append(note("chosen", "none of these: \(recorded.reason)"))
      }
      if let choice { found.append(note("chosen", "\(words(for: choice.reader)): \(choice.reason)")) }
      if attached.isEmpty { found.append(note("reader", "none attached")) }
    case .failure(let failure): found.append(.failed("reader", failure))
    }
    return found
  }

  private func words(for reader: ReaderDescription) -> String {
    let kind =
      reader.identity.adapter.sharesFingers
      ? ", through fprintd" : reader.nature == .physical ? ", through libfprint" : ""
    return Spoken.reader(reader) + kind
  }

  private var registers: String {
    let numbers = status.registers.map(String.init).joined(separator: ", ")
    return
      "\(status.registers.count == 1 ? "register" : "registers") \(numbers) (PCR): if one changes, only the recovery "
      + "key opens the store"
  }

  private var lockout: String {
    if status.restoreDetected { return "refused until what was put back is accepted" }
    if status.lockedOut { return "locked until the passcode ('whorl unlock') or the recovery key clears it" }
    if status.failures > 0 {
      return "\(Spoken.plural(status.failures, "failure")) of \(VaultStatus.failureLimit) in a row"
    }
    return "accepted"
  }

  private var unlocked: String {
    guard let deadline = status.passcodeDeadline else {
      return status.firstUnlock == .login
        ? "nothing until a login or the passcode ('whorl unlock')" : "nothing until the passcode ('whorl unlock')"
    }
    let classes = status.openClasses.map(\.rawValue).joined(separator: ", ")
    return "\(classes); the passcode is asked for again in \(Spoken.duration(deadline)), or sooner"
  }
}

// What `Checkup` and `StoreSurvey` both say.
extension Finding {
  static func passcode(of status: VaultStatus) -> Finding {
    status.passcodeSet
      ? .ok("passcode", "set")
      : .warning("passcode", "not set", "only the recovery key clears a lockout; 'whorl passcode' sets one")
  }

  /// Nil if a passcode is accepted at once.
  static func delay(of status: VaultStatus) -> Finding? {
    guard status.passcodeDelay > 0 else { return nil }
    return .warning("delay", "the next passcode is accepted in \(Spoken.duration(status.passcodeDelay))", nil)
  }
}
