import ArgumentParser
import SecretModel
import SecureMemory
import Settings
import Wallets
import Whorl

struct LoginRepair: Command {
  static let configuration = CommandConfiguration(
    commandName: "repair",
    abstract: "Find out what opens the keyrings, and set the rest right.",
    discussion: """
      For after an interrupted 'enable' or 'disable', a damaged keyring, and a store that is lost: it tries the secret of \
      the store, the file from before, the sealed copy beside the keyring (with the passcode or the recovery key of the \
      store that it is from), and at last a password that you type, each on a copy of the keyring. A secret is removed \
      only after the keyring has been seen to open with something else.

      The copy beside the keyring is sealed anew where the passcode or the recovery key was changed: under the recovery key \
      alone, unless --sealed-under says otherwise.

      Of KWallet, it tries the key that 'enable kwallet' has kept, and asks for its password where that was \
      changed.

      Examples:
        whorl login repair
        whorl login repair --recovery-fd 4 4<recovery
        whorl login repair --sealed-under passcode-and-recovery-key
      """)

  static var spoken: String { "login repair" }

  @OptionGroup var options: GlobalOptions

  @Option(
    help: ArgumentHelp("Read the passwords of the keyring and of KWallet from this descriptor.", valueName: "n"),
    transform: GivenDescriptors.number)
  var passwordFd: Int32?

  @Option(
    help: ArgumentHelp("Read the recovery key of the sealed copy's store from this descriptor.", valueName: "n"),
    transform: GivenDescriptors.number)
  var recoveryFd: Int32?

  @OptionGroup var sealing: SealedCopyOption

  func perform(_ session: Session, _ hardening: Hardening) async throws(Failure) {
    let places = try session.keyringPlaces()
    let store = try await session.store()
    let answers = session.answers(recoveryKey: recoveryFd)
    try await session.openIfWaiting(store, answers, to: "look at the keyrings")
    let passwords = WalletPasswords(answers: answers, descriptor: passwordFd)
    let copies = SealedCopyAnswers(session: session, recoveryFd: recoveryFd, answers: answers)
    let isQuiet = options.json
    let questions = KeyringRepair.Questions {
      guard passwords.canAsk else { return nil }
      if !isQuiet { StandardError.line("The keyring does not open with a secret of Whorl's.") }
      return SharedSecret(try passwords.current("password of the login keyring"))
    } sealedSecret: { copy in
      guard copies.canAsk else { return nil }
      if !isQuiet { StandardError.line("The store does not have the keyring's secret: the sealed copy is opened.") }
      return try await copies.secret(in: copy)
    }
    let outcome: KeyringRepair.Outcome
    do {
      let repair = KeyringRepair(places, in: store)
      outcome =
        if sealing.sealedUnder == nil { try await repair.run(asking: questions) } else {
          try await repair.run(asking: questions) { secret in
            try await sealing.copy(of: secret, in: store, session)
          }
        }
    } catch {
      throw session.explained(error)
    }
    if outcome == .unknown {
      throw .interactionNotAllowed(
        "the login keyring does not open with its own secret, and no other password was given",
        advice: "give its password with --password-fd, or the recovery key with --recovery-fd")
    }
    let wallet = try await repairKWallet(store, session, passwords)
    if options.json { return try JSON.print(["keyring": outcome.rawValue, "kwallet": wallet.rawValue]) }
    StandardError.line(outcome.words)
    if wallet != .nothing { StandardError.line(wallet.words) }
  }

  private func repairKWallet(
    _ store: any VaultService, _ session: Session, _ passwords: WalletPasswords
  ) async throws(Failure) -> KWalletChoice.Outcome {
    let isQuiet = options.json
    let outcome: KWalletChoice.Outcome
    do {
      outcome = try await session.kwalletChoice(in: store).repair {
        guard passwords.canAsk else { return nil }
        if !isQuiet { StandardError.line("The key that was kept does not open KWallet.") }
        return SharedSecret(try passwords.current("password of KWallet"))
      }
    } catch {
      throw session.explained(error)
    }
    guard outcome != .unknown else {
      throw .interactionNotAllowed(
        "KWallet does not open with the key that was kept, and its password was not given",
        advice: "give it with --password-fd, or 'whorl login disable kwallet' removes the key")
    }
    return outcome
  }
}

extension KeyringRepair.Outcome {
  fileprivate var words: String {
    switch self {
    case .nothing: "There is nothing to repair: the login keyring never had a secret of its own here."
    case .ownSecret: "The login keyring opens with its own secret, which the store has; 'whorl login open' opens it."
    case .password: "The login keyring opens with a password, and nothing is left of another secret."
    case .unknown: "The password of the login keyring was not given."
    }
  }
}

extension KWalletChoice.Outcome {
  fileprivate var words: String {
    switch self {
    case .nothing: "Logins do not open KWallet; 'whorl login enable kwallet' changes that."
    case .opens: "KWallet opens with the key that the store has."
    case .replaced: "KWallet has another password, and the store its new key."
    case .unknown: "The password of KWallet was not given."
    }
  }
}
