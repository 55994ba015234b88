extension SessionRefusal {
  /// The reason, in words that follow a colon.
  package var words: String {
    switch self {
    case .noSession: "you are not logged in at this machine"
    case .remote: "this session came over the network"
    case .inactive: "another session is in the foreground"
    case .locked: "the screen is locked"
    case .lidClosed: "the lid is closed"
    case .sleeping: "the machine goes to sleep"
    case .notPermitted: "this program does not run in your own session at this machine"
    case .unknown: "this machine does not say who sits at it"
    }
  }

  /// What the refusal of a finger means to a person.
  package var explanation: Explanation {
    /// Advice for a person who may not be at the machine.
    func atTheMachine(_ first: String) -> String {
      "\(first); a secret that takes the passcode in a finger's place is read with --passcode-fd as well"
    }
    let advice =
      switch self {
      case .noSession, .remote: atTheMachine("log in at the machine itself, and run it there")
      case .notPermitted:
        atTheMachine(
          "log in at the machine as this user, and run it there (not by 'sudo -u', cron or ssh; an administrator may also "
            + "have forbidden it)")
      case .inactive: "switch to this session"
      case .locked: "unlock the screen"
      case .lidClosed: "open the lid"
      case .sleeping: "try again when it is awake"
      case .unknown: "try again"
      }
    let further = self == .unknown ? Explanation.doctor : nil
    return Explanation("no finger is asked for: \(words)", advice: advice, further: further, detail: rawValue)
  }
}

extension AuthorizationProblem {
  /// What a denied permission means to a person.
  ///
  /// - Parameter action: the name of the permission, and further details.
  package func explanation(of action: String) -> Explanation {
    let password = action.hasPrefix("org.whorl.own") ? "your login password" : "an administrator's password"
    return switch self {
    case .denied:
      Explanation(
        "this is allowed in your own session at this machine alone",
        advice: "log in at the machine itself, and run it there; if you have, its administrator has forbidden it",
        detail: action)
    case .dismissed:
      Explanation(
        "the question for \(password) was closed", advice: "run it again, and type the password", detail: action)
    case .nobodyToAsk:
      Explanation(
        "this takes \(password), and nobody can be asked for it here",
        advice: "run it in a terminal, or in a session of a desktop", detail: action)
    case .notAsked:
      Explanation(
        "this takes \(password), which is not asked for here", advice: "run it in your own session at this machine",
        detail: action)
    case .wrongPassword:
      Explanation(
        "\(password) was wrong", advice: "run it again, and type the password that opens the login", detail: action)
    case .unavailable:
      Explanation(
        "it cannot be found out here whether that is allowed",
        advice: "try again after a restart of the machine", further: Explanation.doctor, detail: action)
    }
  }
}
