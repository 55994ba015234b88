/// In which order `whorl setup --undo` takes steps back: the last one first, but none before those that it needs.
enum UndoOrder {
  static let steps: [SetupStep] = {
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
  var undoneAfter: [SetupStep] {
    switch self {
    // Until it has a password again, nobody but Whorl can open the keyring to which passwords are copied back.
    case .secrets: [.keyring]
    // The passwords go into the wallet that Whorl opens.
    case .kwallet: [.secrets]
    // After a start of the machine only a login with the passcode opens the store, which has the keyring's password.
    case .login: [.keyring]
    case .service, .store, .passcode, .reader, .fingers, .keyring, .passkeys, .ssh, .git, .sync: []
    }
  }
}
