internal import PromptTexts
import SecretModel
import SecureMemory
import Settings
internal import TerminalLines
import Wallets
import Whorl

extension Session {
  /// Manages whether logins open the wallet of KWallet. A private vault derives its key.
  func kwalletChoice(in store: any VaultService) throws(Failure) -> KWalletChoice {
    KWalletChoice(try kwalletPlaces(), in: store) { [self] password, salt in
      let connection = try await explained { () async throws(VaultError) in
        try VaultConnector.connectPrivately(configuration)
      }
      let key: Result<SharedSecret, VaultError>
      do throws(VaultError) {
        key = .success(SharedSecret(try await connection.walletKey(from: password.copy(), salt: salt)))
      } catch {
        key = .failure(error)
      }
      await connection.close()
      return try key.get()
    }
  }

  /// Hands over the secrets chosen for the login.
  func handover(in store: any VaultService) throws(Failure) -> LoginHandover {
    LoginHandover(
      in: store, keyring: try keyringPlaces(),
      kwallet: KWalletOpening(try kwalletPlaces(), environment: UserEnvironment.entries), delivery: delivery)
  }

  /// Delivers secrets into the user's session. Commands get this program's environment.
  var delivery: Delivery { Delivery(runtime: BaseDirectories.runtime, environment: UserEnvironment.entries) }
}

extension Session {
  /// Whether the user has chosen that the login password is the passcode.
  func hasLoginPasscode(in store: any VaultService) async throws(Failure) -> Bool {
    try await explained { () async throws(VaultError) in try await LoginEntries(in: store).has(LoginItem(.passcode)) }
  }

  /// Explains the effect on logins after a change of the passcode, if the login password was it. Forgets that the two
  /// were the same, since a private store has no log that tells of the change.
  func passcodeHasChanged(in store: any VaultService) async throws(Failure) {
    guard try await hasLoginPasscode(in: store) else { return }
    try await explained { () async throws(VaultError) in
      try await LoginEntries(in: store).putLoginPasscode(isProven: false)
    }
    guard !options.json else { return }
    StandardError.line(
      "A login opens your secrets only if your login password is the passcode, too: whorl login enable passcode")
  }
}

/// Asks for passwords of wallets, without the vault.
struct WalletPasswords {
  let answers: Answers
  /// A script's descriptor with a line for each password.
  let descriptor: Int32?

  /// Asks for a wallet's current password.
  func current(_ what: String) throws(Failure) -> SecretBytes {
    if let descriptor { return try answers.line(of: descriptor, what) }
    do { return try terminal(what).readSecret("The \(what)") } catch { throw Failure(unanswered: error) }
  }

  /// Asks for a current password until it is right. A person may type it several times; a script gives it once.
  ///
  /// - Parameter proof: tries the password.
  /// - Returns: the result of the proof.
  /// - Throws: `wrongSecret` if the last one is wrong.
  func proven<Proof>(
    _ what: String, _ session: Session, _ proof: (SharedSecret) async throws -> Proof?
  ) async throws(Failure) -> Proof {
    for attempt in 1... {
      let word = SharedSecret(try current(what))
      do {
        if let proof = try await proof(word) { return proof }
      } catch {
        throw session.explained(error)
      }
      var wrong = Failure(WalletError.wrongSecret)
      wrong.what = "that is not the \(what)"
      guard descriptor == nil, attempt < Self.attempts else { throw wrong }
      StandardError.line("\(wrong.what.prefix(1).uppercased())\(wrong.what.dropFirst()). Type it again.")
    }
    throw .cancelled
  }

  /// How often a person may type a password.
  private static let attempts = 3

  /// Asks for the password of a keyring that has one of its own.
  ///
  /// - Parameter wrong: how many answers for this keyring were wrong.
  /// - Returns: nil if the person leaves it closed, or a script has no more lines.
  func ofKeyring(_ name: String, wrong: Int) -> SharedSecret? {
    let what = "password of the keyring \(PromptLabel.text(name))"
    guard wrong < (descriptor == nil ? Self.attempts : 1), canAsk else { return nil }
    if wrong > 0 { StandardError.line("That is not the \(what). Type it again.") }
    let asked = descriptor == nil ? "\(what) (Enter leaves it out)" : what
    guard let password = try? SharedSecret(current(asked)), !password.bytes.isEmpty else { return nil }
    return password
  }

  /// Asks for a wallet's new password, which is typed twice. An empty one would leave the wallet open to whoever has the
  /// disk, and no wallet takes it.
  func new(_ what: String) throws(Failure) -> SecretBytes {
    for attempt in 1... {
      let word: SecretBytes
      if let descriptor {
        word = try answers.line(of: descriptor, what)
      } else {
        do { word = try terminal(what).readNewSecret(what) } catch { throw Failure(unanswered: error) }
      }
      guard word.isEmpty else { return word }
      guard descriptor == nil, attempt < Self.attempts else {
        throw Failure(.refused, "the \(what) may not be empty", name: "errSecParam", advice: "nothing was changed")
      }
      StandardError.line("It may not be empty. Type it again.")
    }
    throw .cancelled
  }

  /// Whether anybody can be asked.
  var canAsk: Bool { descriptor != nil || (!answers.noPrompt && Terminal.exists) }

  private func terminal(_ what: String) throws(Failure) -> Terminal {
    if !answers.noPrompt, let terminal = Terminal() { return terminal }
    throw .interactionNotAllowed(
      "the \(what) is needed and there is no terminal to ask at", advice: "give it with --password-fd")
  }
}

extension Failure {
  /// The failure for an unanswered or impossible prompt.
  init(unanswered error: any Error) {
    switch error {
    case let failure as Failure: self = failure
    case let reason as Unanswered: self = Failure(reason)
    default: self = .cancelled
    }
  }
}

/// Opens sealed copies with the passcode or the recovery key of their store.
struct SealedCopyAnswers {
  let session: Session
  let recoveryFd: Int32?
  let answers: Answers

  var canAsk: Bool { recoveryFd != nil || answers.passcode != nil || (!answers.noPrompt && Terminal.exists) }

  /// The secret in a copy. A mistyped recovery key can be typed again.
  func secret(in copy: SealedCopy) async throws(Failure) -> SharedSecret {
    try await answers.withRetypedRecoveryKey { () async throws(Failure) in
      try await secret(in: copy, by: SharedSecret(try answer(copy)))
    }
  }

  private func secret(in copy: SealedCopy, by answer: SharedSecret) async throws(Failure) -> SharedSecret {
    let connection = try await session.explained { () async throws(VaultError) in
      try VaultConnector.connectPrivately(session.configuration)
    }
    let result: Result<SharedSecret, Failure>
    do throws(Failure) {
      let secret = try await session.explained { () async throws(VaultError) in
        let opening: SealedCopy.Opening =
          if usesRecoveryKey(copy) { .recoveryKey(answer.copy()) } else { .passcode(answer.copy()) }
        return SharedSecret(try await connection.openCopy(copy, with: opening))
      }
      result = .success(secret)
    } catch {
      result = .failure(error)
    }
    await connection.close()
    return try result.get()
  }

  /// Has the person open a new copy, to see that it is of use. Nil if it opens with the recovery key alone, and a person
  /// who does not have that at hand goes on without.
  func trial(of copy: SealedCopy) async throws(Failure) -> SharedSecret? {
    guard recoveryFd == nil, copy.keys == .recoveryKey, !answers.noPrompt, let terminal = Terminal() else {
      return try await secret(in: copy)
    }
    while true {
      let key: SharedSecret
      do throws(Unanswered) {
        key = SharedSecret(try terminal.readSecret("Recovery key", display: .onRequest))
      } catch {
        throw Failure(error)
      }
      guard !key.bytes.isEmpty else { return nil }
      do throws(Failure) {
        return try await secret(in: copy, by: key)
      } catch  where error.isMistypedRecoveryKey {
        error.tellToRetype(enter: "to go on without trying it")
      }
    }
  }

  private func usesRecoveryKey(_ copy: SealedCopy) -> Bool { recoveryFd != nil || copy.keys == .recoveryKey }

  private func answer(_ copy: SealedCopy) throws(Failure) -> SecretBytes {
    try answers.answer(usesRecoveryKey(copy) ? .recoveryKey : .passcode(attempt: 1))
  }
}
