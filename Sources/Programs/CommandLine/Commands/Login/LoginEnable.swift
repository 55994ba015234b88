import ArgumentParser
import SecretModel
import SecureMemory
import Wallets
import Whorl

struct LoginEnable: Command {
  static let configuration = CommandConfiguration(
    commandName: "enable",
    abstract: "Choose what a login opens.",
    discussion: """
      gnome-keyring gives the login keyring a random secret of its own, in place of your password. Whorl hands it over at \
      every login, by finger or by password. The secret is also sealed beside the keyring under the recovery key, so that \
      nothing is lost with the store; with --sealed-under passcode-and-recovery-key the passcode opens that copy as well, \
      and is asked for. What is in the keyring stays as it is. It is tried on a copy first, and 'whorl login disable \
      gnome-keyring' gives the keyring a password back.

      kwallet asks once for the password of the wallet kdewallet, tries it on a copy, and keeps the key that is made of \
      it. The wallet is not changed. When a desktop begins, Whorl starts KWallet's daemon with the key.

      passcode says that the password you log in with is the passcode: the one password typed at the first login after \
      the machine's start then opens the classes of items too, and nobody is asked twice.

      Examples:
        whorl login enable passcode
        whorl login enable gnome-keyring
        whorl login enable gnome-keyring --sealed-under passcode-and-recovery-key
        whorl login enable kwallet
      """)

  static var spoken: String { "login enable" }

  @OptionGroup var options: GlobalOptions

  @Argument(help: ArgumentHelp("gnome-keyring, kwallet or passcode.", valueName: "what"))
  var choice: LoginChoice

  @OptionGroup var sealing: SealedCopyOption

  @Flag(help: "Change the keyring also where no login opens it by itself: 'whorl login open' does.")
  var anyway = false

  @Option(
    help: ArgumentHelp("Read the wallet's password from this descriptor.", valueName: "n"),
    transform: GivenDescriptors.number)
  var passwordFd: Int32?

  func validate() throws {
    if choice != .gnomeKeyring, sealing.sealedUnder != nil || anyway {
      throw ValidationError("--sealed-under and --anyway go with gnome-keyring.")
    }
    if choice == .passcode, passwordFd != nil {
      throw ValidationError("--password-fd goes with gnome-keyring and kwallet; give the passcode with --passcode-fd.")
    }
  }

  func perform(_ session: Session, _ hardening: Hardening) async throws(Failure) {
    Interruption.atEnd(TrialDaemons.end)
    let store = try await session.store()
    switch choice {
    case .passcode: try await enablePasscode(store, session)
    case .gnomeKeyring: try await enableKeyring(store, session)
    case .kwallet: try await enableKWallet(store, session)
    }
    if options.json { try JSON.print(["enabled": choice.rawValue]) }
  }

  private func enablePasscode(_ store: any VaultService, _ session: Session) async throws(Failure) {
    let status = try await session.explained { () async throws(VaultError) in try await store.status() }
    guard status.passcodeSet else { throw Failure(.passcodeNotSet) }
    if !options.json {
      StandardError.line("Type your login password: it has to be the passcode ('whorl passcode' changes that).")
    }
    let access = AccessControl(.passcode)
    try await session.asking(store, session.answers(), reason: "make the login password the passcode") {
      _ = try await store.evaluate(.access(access), $0)
    }
    try await session.explained { () async throws(VaultError) in
      try await LoginEntries(in: store).put(LoginItem(.passcode), secret: SecretBytes(count: 0))
    }
    say("The password typed at a login opens the store as its passcode does.")
  }

  private func enableKeyring(_ store: any VaultService, _ session: Session) async throws(Failure) {
    let places = try session.keyringPlaces()
    // Report these problems before anything is asked.
    do throws(WalletError) { try KeyringFile.requireSealed(places.file) } catch { throw Failure(error) }
    let entries = LoginEntries(in: store)
    guard try await !session.explained({ () async throws(VaultError) in try await entries.has(KeyringRekeying.entry) })
    else {
      throw Failure(
        .exists, "the login keyring has a secret of its own already", name: "errSecDuplicateItem",
        advice: "'whorl login repair' sees whether it opens with it")
    }
    try await requireOneQuestion(store, session)
    if !anyway { try Self.requireGain() }
    let passwords = WalletPasswords(answers: session.answers(), descriptor: passwordFd)
    let password = SharedSecret(try passwords.current("password of the login keyring"))
    let isQuiet = options.json
    let rekeying = KeyringRekeying(places, in: store) { step in
      if !isQuiet { StandardError.line(step.words) }
    }
    do {
      try await rekeying.enable(password: password.bytes) { secret in
        try await sealing.copy(of: secret, in: store, session)
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
    let password = SharedSecret(try passwords.current("password of the wallet"))
    do {
      try await choice.enable(password: password)
    } catch {
      throw session.explained(error)
    }
    say("Logins open the wallet from now on. It keeps its password.")
  }

  /// Refuses a store where a login by password would be followed by a question for the passcode.
  private func requireOneQuestion(_ store: any VaultService, _ session: Session) async throws(Failure) {
    let (first, isPasscode) = try await session.explained { () async throws(VaultError) in
      (try await store.status().firstUnlock, try await LoginEntries(in: store).has(LoginItem(.passcode)))
    }
    guard first == .passcode, !isPasscode else { return }
    throw Failure(
      .refused,
      "this store asks for its passcode after each start, and your login password is not that: the first login would "
        + "leave the keyring locked",
      advice: "'whorl login enable passcode' makes one of the two; or the administrator sets "
        + "require-passcode-after-boot to off")
  }

  /// Refuses if the change would bring nothing: no login program takes a finger, so the password opens the keyring
  /// anyway, or none reports logins to Whorl.
  private static func requireGain() throws(Failure) {
    let stacks = LoginStacks()
    let advice = "'whorl login status' says what to change; with --anyway 'whorl login open' opens the keyring by hand"
    guard stacks.isAnyGood else {
      throw Failure(
        .refused, "no login of this machine tells Whorl, so that nothing would open the keyring", advice: advice)
    }
    guard stacks.takesFinger else {
      throw Failure(
        .refused, "no login of this machine takes a finger, and a password opens the keyring as it is", advice: advice)
    }
  }

  private func say(_ words: String) {
    if !options.json { StandardError.line(words) }
  }
}

extension KeyringRekeying.Step {
  /// The message of each step.
  fileprivate var words: String {
    switch self {
    case .rehearsed: "Tried on a copy."
    case .stored: "The secret is in the store."
    case .sealed: "The secret is sealed beside the keyring."
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
      when you log in with that. Where the store is lost, the sealed copy beside the keyring is opened with the passcode \
      or the recovery key.

      kwallet removes the wallet's key from the store; the wallet keeps its password.

      Examples:
        whorl login disable gnome-keyring
        whorl login disable passcode
      """)

  static var spoken: String { "login disable" }

  @OptionGroup var options: GlobalOptions

  @Argument(help: ArgumentHelp("gnome-keyring, kwallet or passcode.", valueName: "what"))
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
    Interruption.atEnd(TrialDaemons.end)
    let store = try await session.store()
    let entries = LoginEntries(in: store)
    switch choice {
    case .passcode:
      try await session.explained { () async throws(VaultError) in try await entries.remove(LoginItem(.passcode)) }
    case .kwallet:
      let choice = try session.kwalletChoice(in: store)
      try await session.explained { () async throws(VaultError) in try await choice.disable() }
    case .gnomeKeyring:
      let places = try session.keyringPlaces()
      let secret = try await secret(places, entries, session)
      let passwords = WalletPasswords(answers: session.answers(), descriptor: passwordFd)
      let password = SharedSecret(try passwords.new("password of the login keyring"))
      do {
        try await KeyringRekeying(places, in: store).disable(secret: secret.bytes, password: password.bytes)
      } catch WalletError.wrongSecret {
        throw Failure(
          .refused, "the login keyring does not open with its own secret", name: "errSecAuthFailed",
          advice: "'whorl login repair' finds what opens it")
      } catch {
        throw session.explained(error)
      }
      if !options.json { StandardError.line("The login keyring has its new password, and Whorl nothing of it.") }
    }
    if options.json { try JSON.print(["disabled": choice.rawValue]) }
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
    return SharedSecret(
      try await SealedCopyAnswers(session: session, recoveryFd: recoveryFd, answers: answers).secret(in: copy))
  }
}
