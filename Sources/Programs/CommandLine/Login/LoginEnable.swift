import ArgumentParser
import CommandBase
import SecretModel
import Settings

struct LoginEnable: Command {
  static let configuration = CommandConfiguration(
    commandName: "enable",
    abstract: "Choose what a login opens.",
    discussion: """
      gnome-keyring gives the login keyring a random secret of its own, in place of your password. Whorl opens it with that at \
      every login, by finger or by password. A copy of the secret, which only the recovery key opens, is kept next to the keyring, so that \
      nothing is lost with the store; with --sealed-under passcode-and-recovery-key the passcode opens that copy as well. \
      Before anything is changed, what you have is tried: the recovery key (or that passcode) has to open the copy, and \
      where a login opens the store by its password, your login password has to be right and to open it. What is in the \
      keyring stays as it is. It is tried on a copy first, and 'whorl login disable gnome-keyring' gives the keyring a \
      password back.

      kwallet asks once for KWallet's password, tries it on a copy, and keeps the key that is made of \
      it. KWallet's own file is not changed. When a desktop begins, Whorl starts KWallet's daemon with the key.

      passcode says that the password you log in with is the passcode: the one password typed at the first login after \
      the machine's start then opens the classes of items too, and nobody is asked twice. It asks for your login password \
      and tries it at both. If it is not the passcode, it asks whether to make it that; --change-passcode answers yes. Run \
      it again whenever 'whorl login status' says that the two are not one any more.

      sudo and polkit have sudo, or the dialogs that ask for an administrator, take a finger or the password, whichever comes \
      first. screen has lock screens that run as you take a finger as well: Plasma's beside the password, and swaylock, \
      gtklock and i3lock after Enter without a password. GNOME's needs none of this: a finger for logins is one for its lock \
      screen, too. That changes files in /etc/pam.d, for everybody who uses this machine, and asks for an administrator's \
      password.

      Examples:
        whorl login enable passcode
        whorl login enable passcode --password-fd 3 3<login-password
        whorl login enable gnome-keyring
        whorl login enable gnome-keyring --sealed-under passcode-and-recovery-key
        whorl login enable kwallet
        whorl login enable sudo
      """)

  static var spoken: String { "login enable" }

  @OptionGroup var options: GlobalOptions

  @Argument(help: ArgumentHelp("gnome-keyring, kwallet, passcode, sudo, polkit or screen.", valueName: "what"))
  var choice: LoginChoice

  @OptionGroup var sealing: SealedCopyOption

  @Flag(help: "Change the keyring also where no login opens it by itself: 'whorl login open' does.")
  var anyway = false

  @Flag(help: "Make the login password the passcode without asking, where the passcode is another one.")
  var changePasscode = false

  @OptionGroup var guessable: GuessablePasscodeOption

  @Option(
    help: ArgumentHelp(
      "Read the keyring's or KWallet's password and the login password from this descriptor, a line for each that is asked.",
      valueName: "n"),
    transform: GivenDescriptors.number)
  var passwordFd: Int32?

  @Option(
    help: ArgumentHelp("Read the recovery key from this descriptor.", valueName: "n"),
    transform: GivenDescriptors.number)
  var recoveryFd: Int32?

  func validate() throws {
    if choice != .gnomeKeyring, sealing.sealedUnder != nil || anyway || recoveryFd != nil {
      throw ValidationError("--sealed-under, --anyway and --recovery-fd go with gnome-keyring.")
    }
    if choice != .passcode, changePasscode || guessable.allowGuessable {
      throw ValidationError("--change-passcode and --allow-guessable go with passcode.")
    }
  }

  func perform(_ session: Session, _ hardening: Hardening) async throws(Failure) {
    // For the passcode, a single password from a script is used for both.
    let passwords = choice == .passcode ? passwordFd ?? options.passcodeFd : passwordFd
    let dialogue = CommandDialogue(session, of: Self.spoken, passwordFd: passwords, recoveryFd: recoveryFd)
    switch choice {
    case .passcode:
      try await LoginPasscodeChange(dialogue).enable(
        isAgreed: changePasscode, allowsGuessable: guessable.allowGuessable)
    case .gnomeKeyring:
      try await KeyringChange(dialogue).enable(sealedUnder: sealing.sealedUnder ?? .recoveryKey, anyway: anyway)
    case .kwallet: try await KWalletChange(dialogue).enable()
    case .sudo: try FingerLogin(step: .sudo).make(.enable, hardening)
    case .polkit: try FingerLogin(step: .polkit).make(.enable, hardening)
    case .screen: try FingerLogin(step: .screen).make(.enable, hardening)
    }
    if options.json { try JSON.print(["enabled": choice.rawValue]) }
  }
}

struct LoginDisable: Command {
  static let configuration = CommandConfiguration(
    commandName: "disable",
    abstract: "Take back what was chosen with 'enable'.",
    discussion: """
      gnome-keyring gives the login keyring a password back: give it your login password, and GNOME's own module opens it \
      when you log in with that. Where the store is lost, the copy next to the keyring is opened with the passcode \
      or the recovery key.

      kwallet removes KWallet's key from the store; KWallet keeps its password.

      sudo, polkit and screen get their files in /etc/pam.d back as they were.

      Examples:
        whorl login disable gnome-keyring
        whorl login disable passcode
      """)

  static var spoken: String { "login disable" }

  @OptionGroup var options: GlobalOptions

  @Argument(help: ArgumentHelp("gnome-keyring, kwallet, passcode, sudo, polkit or screen.", valueName: "what"))
  var choice: LoginChoice

  @Option(
    help: ArgumentHelp("Read the keyring's new password from this descriptor.", valueName: "n"),
    transform: GivenDescriptors.number)
  var passwordFd: Int32?

  @Option(
    help: ArgumentHelp("Read the recovery key of the sealed copy's store from this descriptor.", valueName: "n"),
    transform: GivenDescriptors.number)
  var recoveryFd: Int32?

  func validate() throws {
    if choice != .gnomeKeyring, passwordFd != nil || recoveryFd != nil {
      throw ValidationError("--password-fd and --recovery-fd go with gnome-keyring.")
    }
  }

  func perform(_ session: Session, _ hardening: Hardening) async throws(Failure) {
    let dialogue = CommandDialogue(session, of: Self.spoken, passwordFd: passwordFd, recoveryFd: recoveryFd)
    switch choice {
    case .passcode: try await LoginPasscodeChange(dialogue).disable()
    case .gnomeKeyring: try await KeyringChange(dialogue).disable()
    case .kwallet: try await KWalletChange(dialogue).disable()
    case .sudo: try FingerLogin(step: .sudo).make(.disable, hardening)
    case .polkit: try FingerLogin(step: .polkit).make(.disable, hardening)
    case .screen: try FingerLogin(step: .screen).make(.disable, hardening)
    }
    if options.json { try JSON.print(["disabled": choice.rawValue]) }
  }
}
