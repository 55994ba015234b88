import ArgumentParser
import SecretModel
import SecureMemory
import Settings
internal import TerminalLines
import Wallets

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
      first. That changes a file in /etc/pam.d, for everybody who uses this machine, and asks for an administrator's password.

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

  @Argument(help: ArgumentHelp("gnome-keyring, kwallet, passcode, sudo or polkit.", valueName: "what"))
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
    if choice.isOfMachine {
      try FingerLogin(choice: choice).make(.enable, hardening)
    } else {
      try await enable(try await session.store(), session)
    }
    if options.json { try JSON.print(["enabled": choice.rawValue]) }
  }

  private func enable(_ store: any VaultService, _ session: Session) async throws(Failure) {
    switch choice {
    case .passcode: try await enablePasscode(store, session)
    case .gnomeKeyring: try await enableKeyring(store, session)
    case .kwallet: try await enableKWallet(store, session)
    case .sudo, .polkit: break
    }
  }

  private func enablePasscode(_ store: any VaultService, _ session: Session) async throws(Failure) {
    let status = try await session.explained { () async throws(VaultError) in try await store.status() }
    guard status.passcodeSet else { throw Failure(.passcodeNotSet) }
    // A single password from a script is used for both.
    let passwords = WalletPasswords(answers: session.answers(), descriptor: passwordFd ?? options.passcodeFd)
    try await loginPasscode(passwords, store, session).enable(
      isAgreed: changePasscode, session.contextOptions(guessable))
  }

  private func loginPasscode(
    _ passwords: WalletPasswords, _ store: any VaultService, _ session: Session
  ) -> LoginPasscodeChoice {
    LoginPasscodeChoice(store: store, session: session, passwords: passwords, isQuiet: options.json)
  }

  private func enableKeyring(_ store: any VaultService, _ session: Session) async throws(Failure) {
    let (places, rules) = (try session.keyringPlaces(), KeyringRules(session))
    // Report these problems before anything is asked.
    do throws(WalletError) { try KeyringFile.requireSealed(places.file) } catch { throw Failure(error) }
    let entries = LoginEntries(in: store)
    guard try await !session.explained({ () async throws(VaultError) in try await entries.has(KeyringRekeying.entry) })
    else {
      throw Failure(
        .exists, "the login keyring has a secret of its own already", name: "errSecDuplicateItem",
        advice: "'whorl login repair' checks whether that secret opens it")
    }
    let isByPassword = try await rules.isOpenedByPassword()
    if !anyway { try rules.requireGain() }
    let passwords = WalletPasswords(answers: session.answers(), descriptor: passwordFd)
    // A wrong password is told before anything else is asked.
    let password = try await passwords.proven("password of the login keyring", session) { word in
      try await KeyringTrial(of: places).opens(with: word.bytes) ? word : nil
    }
    if !isByPassword { try await session.openIfWaiting(store, session.answers(), to: "keep the keyring's secret") }
    if isByPassword { try await loginPasscode(passwords, store, session).prove(first: password) }
    let isQuiet = options.json
    let rekeying = KeyringRekeying(places, in: store) { step in
      if !isQuiet { StandardError.line(step.words) }
    }
    // The passcode seals the copy and then opens it, and is asked for once.
    var answers = session.answers(recoveryKey: recoveryFd)
    if sealing.sealedUnder == .passcodeAndRecoveryKey {
      answers.given = SharedSecret(try answers.answer(.passcode(attempt: 1)))
    } else if recoveryFd == nil, Terminal.exists {
      say(
        "Type the recovery key: it opens the keyring if the store is ever lost, and is tried before anything is changed."
      )
      say("If you do not have it at hand, press Enter: then it is not tried.")
    }
    let sealingAnswers = answers
    do {
      try await rekeying.enable(password: password.bytes) { secret in
        try await sealing.copy(of: secret, in: store, session, sealingAnswers)
      } opening: { copy in
        var answers = sealingAnswers
        if copy.keys == .recoveryKey { answers.given = nil }
        let recovery = copy.keys == .recoveryKey ? recoveryFd : nil
        let opened = try await SealedCopyAnswers(session: session, recoveryFd: recovery, answers: answers).trial(
          of: copy)
        if opened == nil {
          say("Not tried. If your recovery key is lost, 'whorl recover --new-key' makes another; then run")
          say("'whorl login repair'.")
        }
        return opened
      }
    } catch {
      throw session.explained(error)
    }
    say("The login keyring has a secret of its own. The file from before is kept until a login has opened it.")
  }

  private func enableKWallet(_ store: any VaultService, _ session: Session) async throws(Failure) {
    let choice = try session.kwalletChoice(in: store)
    let places = try session.kwalletPlaces()
    // Report these problems before anything is asked.
    do throws(WalletError) { try KWalletFile.requireSealed(places) } catch { throw Failure(error) }
    let passwords = WalletPasswords(answers: session.answers(), descriptor: passwordFd)
    // A wrong password is told before anything else is asked.
    let key = try await passwords.proven("password of KWallet", session) { word in
      try await choice.key(from: word)
    }
    try await session.openIfWaiting(store, session.answers(), to: "keep KWallet's key")
    try await session.explained { () async throws(VaultError) in try await choice.keep(key) }
    say("Logins open KWallet from now on. It keeps its password.")
  }

  private func say(_ words: String) {
    if !options.json { StandardError.line(words) }
  }
}

extension KeyringRekeying.Step {
  /// The message of each step.
  fileprivate var words: String {
    switch self {
    case .walked: "Tested: the copy for the day when the store is lost opens."
    case .rehearsed: "Tested on a copy of the keyring."
    case .stored: "The secret is in the store."
    case .sealed: "A copy that only the recovery key opens is next to the keyring."
    case .kept: "The keyring's file is kept as it was."
    case .changed: "The keyring has been changed."
    case .verified: "Its file opens as it should."
    case .opened: "The keyring is open."
    case .removed: "Done."
    }
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

      sudo and polkit get their file in /etc/pam.d back as it was.

      Examples:
        whorl login disable gnome-keyring
        whorl login disable passcode
      """)

  static var spoken: String { "login disable" }

  @OptionGroup var options: GlobalOptions

  @Argument(help: ArgumentHelp("gnome-keyring, kwallet, passcode, sudo or polkit.", valueName: "what"))
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
    if choice.isOfMachine {
      try FingerLogin(choice: choice).make(.disable, hardening)
    } else {
      try await disable(try await session.store(), session)
    }
    if options.json { try JSON.print(["disabled": choice.rawValue]) }
  }

  private func disable(_ store: any VaultService, _ session: Session) async throws(Failure) {
    let entries = LoginEntries(in: store)
    switch choice {
    case .sudo, .polkit: break
    case .passcode:
      try await KeyringRules(session).requireOtherWayThanPasscode()
      try await session.explained { () async throws(VaultError) in try await entries.remove(LoginItem(.passcode)) }
    case .kwallet:
      let choice = try session.kwalletChoice(in: store)
      try await session.explained { () async throws(VaultError) in try await choice.disable() }
    case .gnomeKeyring:
      let places = try session.keyringPlaces()
      try await session.openIfWaiting(store, session.answers(), to: "give the keyring a password")
      let secret = try await secret(places, entries, session)
      let passwords = WalletPasswords(answers: session.answers(), descriptor: passwordFd)
      let password = try await newPassword(passwords, session)
      do {
        try await KeyringRekeying(places, in: store).disable(secret: secret.bytes, password: password.bytes)
      } catch WalletError.wrongSecret {
        throw Failure(
          .refused, "the login keyring does not open with its own secret", name: "errSecAuthFailed",
          advice: "'whorl login repair' finds out what opens it")
      } catch {
        throw session.explained(error)
      }
      if !options.json { StandardError.line("The login keyring has its new password, which Whorl does not keep.") }
    }
  }

  /// The keyring's new password: the login password, or another one, with which the person agrees.
  private func newPassword(_ passwords: WalletPasswords, _ session: Session) async throws(Failure) -> SharedSecret {
    let isTyped = passwordFd == nil
    if isTyped, !options.json {
      StandardError.line("Type your login password for it: then the desktop opens it again when you log in with that.")
    }
    let password = SharedSecret(try passwords.new("password of the login keyring"))
    if await LoginPassword.check(password.bytes) == .wrong {
      let words = "That is not your login password, so that the desktop will ask for it after each login."
      if isTyped { try session.answers().confirm("\(words) Take it anyway?", assent: "--password-fd") }
      if !isTyped { StandardError.line(words) }
    }
    return password
  }

  private func opens(
    with secret: SharedSecret, _ places: KeyringPlaces, _ session: Session
  ) async throws(Failure) -> Bool {
    do {
      return try await KeyringTrial(of: places).opens(with: secret.bytes)
    } catch {
      throw session.explained(error)
    }
  }

  private func secret(_ places: KeyringPlaces, _ entries: LoginEntries, _ session: Session)
    async throws(Failure) -> SharedSecret
  {
    let stored = try await session.explained { () async throws(VaultError) in
      try await entries.secret(of: KeyringRekeying.entry)
    }
    let copy = places.sealedCopy
    if let stored {
      // The store may have an earlier secret than the copy, after a restore.
      guard copy != nil, try await !opens(with: stored, places, session) else { return stored }
      StandardError.line("The keyring does not open with the secret of the store: the sealed copy is opened.")
    }
    guard let copy else {
      throw Failure(
        .notFound, "the login keyring has no secret of its own", name: "errSecItemNotFound",
        advice: "'whorl login status' tells what there is")
    }
    let answers = session.answers(recoveryKey: recoveryFd)
    return try await SealedCopyAnswers(session: session, recoveryFd: recoveryFd, answers: answers).secret(in: copy)
  }
}
