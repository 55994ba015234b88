import Wallets

extension Failure {
  /// The failure for each error of a wallet.
  init(_ error: WalletError) {
    switch error {
    case .missing(let path):
      self.init(
        .notFound, "there is no wallet at \(path)", name: "errSecNoSuchKeychain",
        advice: "log in once with your password, or store a secret with another program, and the desktop makes it")
    case .damaged(let path, let why):
      self.init(
        .damaged, "\(path) is no whole wallet: \(why)", name: "errSecInvalidKeychain",
        advice: "'whorl login repair' puts a keyring's file from before back, where there is one")
    case .withoutPassword(let path):
      self.init(
        .refused, "the login keyring at \(path) has no password, so that nothing in it is encrypted",
        advice: "give it one with 'Passwords and Keys' (seahorse), then try again")
    case .unsupported(let path, let why):
      self.init(
        .refused, "no login can open \(path): \(why)",
        advice: "a new wallet with a password, made in KWallet's settings, can be opened")
    case .wrongSecret:
      self.init(
        .refused, "that does not open the wallet", name: "errSecAuthFailed",
        advice: "it is often the login password of the time when the wallet was made")
    case .unsendable:
      self.init(.usage, "a secret with a NUL in it cannot be sent", name: "errSecParam", advice: "choose another")
    case .program(let why):
      self.init(.unavailable, why, advice: "install it, or correct that")
    case .notRunning(let why):
      self.init(
        .unavailable, "the wallet's program is not running (\(why))",
        advice: "run this in a desktop's session; for GNOME Keyring, start gnome-keyring-daemon.socket of the user")
    case .foreign(let path, let user):
      self.init(.refused, "\(path) belongs to user \(user), who gets no secret", advice: "remove it")
    case .noAnswer(let why): self.init(.tryAgain, why, advice: "try again, or log in anew")
    case .refused(let what): self.init(.refused, "refused \(what)", advice: "'whorl login status' explains")
    case .unverified:
      self.init(
        .damaged, "the keyring does not open with its new secret",
        advice: "'whorl login repair' finds what opens it; nothing was removed")
    case .busy:
      self.init(.tryAgain, "another program looks at the wallet", advice: "try again when it is done")
    case .system(let what): self.init(.inputOutput, what, name: "errSecIO", advice: "see the disk and its permissions")
    }
  }
}
