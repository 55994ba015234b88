// What a problem with permissions, the TPM or a credential means to a person, and what to do about it.

internal import Primitives

extension SessionRefusal {
  /// The reason, in words that follow a colon.
  package var words: String {
    switch self {
    case .noSession: Text.of("you are not logged in at this machine")
    case .remote: Text.of("this session came over the network")
    case .inactive: Text.of("another session is in the foreground")
    case .locked: Text.of("the screen is locked")
    case .lidClosed: Text.of("the lid is closed")
    case .sleeping: Text.of("the machine goes to sleep")
    case .notPermitted: Text.of("this program does not run in your own session at this machine")
    case .unknown: Text.of("this machine does not say who sits at it")
    }
  }

  /// What the refusal of a finger means to a person.
  package var explanation: Explanation {
    /// Advice for a person who may not be at the machine.
    func atTheMachine(_ first: String) -> String {
      Text.of(
        "{advice}; a secret that takes the passcode in a finger's place is read with --passcode-fd as well",
        ["advice": first])
    }
    let advice =
      switch self {
      case .noSession, .remote: atTheMachine(Text.of("log in at the machine itself, and run it there"))
      case .notPermitted:
        atTheMachine(
          Text.of(
            "log in at the machine as this user, and run it there (not by 'sudo -u', cron or ssh; an administrator may also have forbidden it)"
          ))
      case .inactive: Text.of("switch to this session")
      case .locked: Text.of("unlock the screen")
      case .lidClosed: Text.of("open the lid")
      case .sleeping: Text.of("try again when it is awake")
      case .unknown: Text.of("try again")
      }
    let further = self == .unknown ? Explanation.doctor : nil
    return Explanation(
      Text.of("no finger is asked for: {reason}", ["reason": words]), advice: advice, further: further, detail: rawValue
    )
  }
}

extension AuthorizationProblem {
  /// What a denied permission means to a person.
  ///
  /// - Parameter action: the name of the permission, and further details.
  package func explanation(of action: String) -> Explanation {
    let password =
      action.hasPrefix("org.whorl.own") ? Text.of("your login password") : Text.of("an administrator's password")
    return switch self {
    case .denied:
      Explanation(
        Text.of("this is allowed in your own session at this machine alone"),
        advice: Text.of(
          "log in at the machine itself, and run it there; if you have, its administrator has forbidden it"),
        detail: action)
    case .dismissed:
      Explanation(
        Text.of("the question for {password} was closed", ["password": password]),
        advice: Text.of("run it again, and type the password"), detail: action)
    case .nobodyToAsk:
      Explanation(
        Text.of("this takes {password}, and nobody can be asked for it here", ["password": password]),
        advice: Text.of("run it in a terminal, or in a session of a desktop"), detail: action)
    case .notAsked:
      Explanation(
        Text.of("this takes {password}, which is not asked for here", ["password": password]),
        advice: Text.of("run it in your own session at this machine"),
        detail: action)
    case .wrongPassword:
      Explanation(
        Text.of("{password} was wrong", ["password": password]),
        advice: Text.of("run it again, and type the password that opens the login"), detail: action)
    case .unavailable:
      Explanation(
        Text.of("it cannot be found out here whether that is allowed"),
        advice: Text.of("try again after a restart of the machine"), further: Explanation.doctor, detail: action)
    }
  }
}

extension TPMProblem {
  var apple: AppleError {
    switch self {
    case .absent, .ownerPassword, .refused: .status(.errSecNotAvailable)
    case .changed, .registersChanged: .status(.errSecInvalidKeychain)
    case .lockedOut: .status(.errSecAuthFailed)
    }
  }

  var kind: FailureKind {
    switch self {
    case .absent, .refused: .unavailable
    case .changed, .registersChanged: .damaged
    case .lockedOut: .refused
    case .ownerPassword: .configuration
    }
  }

  /// What it means to a person that the TPM does not open the store.
  package func explanation(_ detail: String) -> Explanation {
    let detail = detail.isEmpty ? nil : detail
    return switch self {
    case .absent:
      Explanation(
        Text.of("the machine's security chip (TPM), which keeps the store's keys, cannot be used"),
        advice: Text.of(
          "turn it on in the firmware's settings; if it is gone, an administrator sets 'tpm = no' in /etc/whorl/whorld.conf, and 'whorl recover' takes the recovery key"
        ), detail: detail)
    case .changed:
      Explanation(
        Text.of("the machine's security chip (TPM) was cleared or replaced since the store's keys were sealed in it"),
        advice: Text.of("'whorl recover' seals them again with the recovery key"), detail: detail)
    case .lockedOut:
      Explanation(
        Text.of(
          "the machine's security chip (TPM) takes no passcode for a while, after too many wrong ones of any program or user"
        ), advice: Text.of("wait, or 'whorl recover' with the recovery key"), detail: detail)
    case .registersChanged:
      Explanation(
        Text.of("the firmware, its settings or the boot changed since the store's keys were sealed to them"),
        advice: Text.of("'whorl recover' takes the recovery key and seals them again, independently of these"),
        detail: detail)
    case .ownerPassword:
      Explanation(
        Text.of("the machine's security chip (TPM) has an owner's password, which Whorl does not have"),
        advice: Text.of(
          "an administrator removes it ('tpm2_changeauth -c owner -p PASSWORD'), or sets 'tpm = no' in /etc/whorl/whorld.conf"
        ), detail: detail)
    case .refused:
      Explanation(
        Text.of("the machine's security chip (TPM) has refused"),
        advice: Text.of("try again after a restart of the machine; 'whorl recover' takes the recovery key"),
        detail: detail)
    }
  }
}

extension Explanation {
  /// The keys of a store are in a file, and the machine has no TPM that could take them.
  package static func noTPMForKeyFile(_ detail: String) -> Explanation {
    Explanation(
      Text.of("this store keeps its keys in a file, and no security chip (TPM) is there that could take them"),
      advice: Text.of(
        "nothing has changed, and the store works as before; if the machine has a chip, turn it on in the firmware's settings"
      ), detail: detail)
  }
}

extension CredentialProblem {
  var apple: AppleError { .status(self == .absent ? .errSecNotAvailable : .errSecInvalidKeychain) }
  var kind: FailureKind { self == .absent ? .unavailable : .damaged }

  /// What it means to a person that the credential does not open the store.
  package func explanation(_ detail: String) -> Explanation {
    let detail = detail.isEmpty ? nil : detail
    return switch self {
    case .absent:
      Explanation(
        Text.of("the systemd credential that the store's keys are sealed under is not there"),
        advice:
          Text.of(
            "an administrator puts it back into /etc/credstore.encrypted; if it is gone, they make a new one, or set 'credential = no' in /etc/whorl/whorld.conf, and 'whorl recover' takes the recovery key"
          ), detail: detail)
    case .changed:
      Explanation(
        Text.of("the systemd credential is another one than the store's keys were sealed under"),
        advice: Text.of(
          "an administrator gives the service the earlier one as well (whorld.conf(5)), or 'whorl recover' seals them again with the recovery key"
        ), detail: detail)
    }
  }
}
