/// What `whorl setup --undo` takes back, in order: the last one first, but none before those that it needs.
package struct UndoPlan: Sendable {
  package struct Step: Sendable {
    package let step: SetupStep
    package let command: [String]
    /// What is on, and is taken back.
    package let finding: Finding
  }

  package let steps: [Step]

  /// - Parameters:
  ///   - findings: the findings of a survey.
  ///   - unfinished: what an earlier run has begun, from ``UnfinishedUndo``.
  package init(_ findings: [Finding], unfinished: [SetupStep], for named: NamedStore) {
    steps = Self.order.compactMap { step in
      if let found = findings.first(where: { $0.step == step && $0.isSetUp }), let command = found.undo {
        return Step(step: step, command: command, finding: found)
      }
      guard step == .secrets, unfinished.contains(step) else { return nil }
      // What one run could not copy, the next one can.
      let command = SetupSurvey.copyingBack(named)
      return Step(
        step: step, command: command,
        finding: .done(step, "off, but not all passwords were copied back yet", undo: command))
    }
  }

  package static let order: [SetupStep] = {
    var left: [SetupStep] = SetupStep.allCases.reversed().filter { !staying.contains($0) }
    var order: [SetupStep] = []
    while let next = left.first(where: { step in step.undoneAfter.allSatisfy { !left.contains($0) } }) {
      left.removeAll { $0 == next }
      order.append(next)
    }
    return order
  }()

  /// The steps that go with the store, or that no command of this user takes back.
  private static let staying: [SetupStep] = [.service, .store, .passcode, .reader, .fingers]
}

extension SetupStep {
  /// The steps that have to be taken back before this one.
  package var undoneAfter: [SetupStep] {
    switch self {
    // Until it has a password again, nobody but Whorl can open the keyring to which passwords are copied back.
    case .secrets: [.keyring]
    // The passwords go into the wallet that Whorl opens.
    case .kwallet: [.secrets]
    // After a start of the machine only a login with the passcode opens the store, which has the keyring's password.
    case .login: [.keyring]
    case .service, .store, .passcode, .reader, .fingers, .keyring, .sudo, .polkit, .screen, .passkeys, .ssh, .git, .gpg,
      .sync:
      []
    }
  }
}
