package import SecretModel

extension WalletError {
  /// What the error means to a person.
  package var explanation: Explanation {
    switch self {
    case .missing(let path):
      Explanation(
        "there are no passwords of the desktop at \(path) yet",
        advice: "log in once with your password, or store a secret with another program, and the desktop makes it")
    case .damaged(let path, let why):
      Explanation(
        "\(path) is damaged: \(why)",
        advice: "'whorl login repair' puts a keyring's file from before back, where there is one")
    case .withoutPassword(let path):
      Explanation(
        "the login keyring at \(path) has no password, so that nothing in it is encrypted",
        advice: "give it one with 'Passwords and Keys' (seahorse), then try again")
    case .unsupported(let path, let why):
      Explanation(
        "no login can open \(path): \(why)",
        advice: "one with a password, made anew in KWallet's settings, can be opened")
    case .wrongSecret:
      Explanation(
        "that is not the password",
        advice: "it is often the login password that you had when the desktop was set up")
    case .unsendable: Explanation("a secret with a NUL in it cannot be sent", advice: "choose another")
    case .program(let why): Explanation(why, advice: "install it, or correct that")
    case .notRunning(let why):
      Explanation(
        "the program that keeps the desktop's passwords is not running",
        advice: "run this in a desktop's session; for GNOME Keyring, start gnome-keyring-daemon.socket of the user",
        detail: why)
    case .foreign(let path, let user):
      Explanation("\(path) belongs to user \(user), to whom no secret is sent", advice: "remove it")
    case .noAnswer(let why):
      Explanation(
        "the program that keeps the desktop's passwords gave no valid answer", advice: "try again, or log in anew",
        detail: why)
    case .refused(let what): Explanation("refused \(what)", advice: "'whorl login status' explains")
    case .unverified:
      Explanation(
        "the keyring does not open with its new secret",
        advice: "'whorl login repair' finds out what opens it; nothing was removed")
    case .copyUnverified:
      Explanation(
        "the recovery copy of the keyring does not open, so that the keyring was not changed",
        advice: "\(Explanation.advice(onFileError: 0)), then try again")
    case .busy: Explanation("another run of whorl looks at the same passwords", advice: "try again when it is done")
    case .system(let what): Explanation(what, advice: Explanation.advice(onFileError: 0))
    }
  }
}
