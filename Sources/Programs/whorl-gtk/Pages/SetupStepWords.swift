internal import Primitives
internal import Settings

// What the steps of the setup are called in the window, and what it means to take them back.
extension SetupStep {
  var title: String {
    switch self {
    case .service: Text.of("Logins Open Your Secrets")
    case .store: Text.of("Your Secrets")
    case .passcode: Text.of("Passcode")
    case .reader: Text.of("Reader")
    case .fingers: Text.of("Fingers")
    case .login: Text.of("One Password for Login and Secrets")
    case .keyring: Text.of("GNOME’s Keyring")
    case .kwallet: "KWallet"
    case .sudo: Text.of("A Finger at sudo")
    case .polkit: Text.of("A Finger for Administrators")
    case .screen: Text.of("A Finger at the Lock Screen")
    case .secrets: Text.of("Passwords of Your Programs")
    case .passkeys: Text.of("Passkeys in Browsers")
    case .ssh: "SSH"
    case .git: "git"
    case .gpg: "GnuPG"
    case .sync: Text.of("Other Computers")
    }
  }

  /// What goes back to whom when the step is taken back; nil for what goes with the store.
  var wayBack: String? {
    switch self {
    case .keyring: Text.of("The keyring gets a password that you type, and no login by finger opens it any more.")
    case .secrets:
      Text.of("They go back to the program that kept them before, and are compared there. It keeps what it has.")
    case .kwallet: Text.of("Whorl forgets its password. KWallet asks you for it again.")
    case .login: Text.of("A login does not open your secrets any more. The passcode stays the same.")
    case .sudo, .polkit, .screen: Text.of("It takes the password alone again.")
    case .passkeys:
      Text.of("Browsers do not find them any more. See first that you can sign in to those sites otherwise.")
    case .ssh: Text.of("ssh uses the keys and the agent from before. The keys in Whorl stay there.")
    case .git: Text.of("git asks for passwords as before.")
    case .gpg: Text.of("GnuPG asks for passphrases as before.")
    case .sync: Text.of("The other computers keep what is shared. Changes are not shared with this one any more.")
    case .service, .store, .passcode, .reader, .fingers: nil
    }
  }
}
