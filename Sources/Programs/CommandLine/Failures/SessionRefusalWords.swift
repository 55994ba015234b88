import SecretModel

extension SessionRefusal {
  /// The reason, to be used in a sentence.
  var words: String {
    switch self {
    case .noSession: "you have no session at this machine"
    case .remote: "this session came over the network"
    case .inactive: "another session is in the foreground"
    case .locked: "the screen is locked"
    case .lidClosed: "the lid is closed"
    case .sleeping: "the machine goes to sleep"
    case .notPermitted: "the rules of this machine forbid it (polkit)"
    case .unknown: "logind or polkit does not answer"
    }
  }

  /// What to do about it; nil where nothing helps.
  var advice: String? {
    switch self {
    case .noSession, .remote: "log in at the machine itself"
    case .inactive: "switch to this session"
    case .locked: "unlock the screen"
    case .lidClosed: "open the lid"
    case .sleeping: "try again when it is awake"
    case .notPermitted: "an administrator can change the rule org.whorl.use"
    case .unknown: "'whorl doctor' looks at the installation"
    }
  }
}
