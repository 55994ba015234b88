internal import Primitives
package import SecretModel

/// Gives the login keyring a secret of its own, which logins open, and takes that back.
package struct KeyringChange: Sendable {
  private let dialogue: any ChangeDialogue
  private var context: any SettingsContext { dialogue.context }

  package init(_ dialogue: any ChangeDialogue) { self.dialogue = dialogue }

  private static let password = "password of the login keyring"

  /// Gives the keyring a secret of its own. What opens the copy of that secret is tried before anything is changed.
  ///
  /// - Parameters:
  ///   - keys: what opens the copy.
  ///   - anyway: whether to do so also where no login opens the keyring by itself.
  package func enable(sealedUnder keys: SealedCopy.Keys, anyway: Bool) async throws(Failure) {
    _ = try await context.openStore()
    let (places, rules) = (try context.keyringPlaces(), KeyringRules(context))
    // Report these problems before anything is asked.
    do throws(WalletError) { try KeyringFile.requireSealed(places.file) } catch { throw Failure(error) }
    guard try await !context.request({ try await LoginEntries(in: $0).has(KeyringRekeying.entry) }) else {
      throw Failure(
        .exists, "the login keyring has a secret of its own already", name: "errSecDuplicateItem",
        advice: "'whorl login repair' checks whether that secret opens it")
    }
    let isByPassword = try await rules.isOpenedByPassword()
    if !anyway { try rules.requireGain() }
    // A wrong password is told before anything else is asked.
    let password = try await dialogue.proven(Self.password) { word in
      try await KeyringTrial(of: places).opens(with: word.bytes) ? word : nil
    }
    if isByPassword {
      try await LoginPasscodeChange(dialogue).prove(first: password)
    } else {
      try await dialogue.openIfWaiting(to: "keep the keyring's secret")
    }
    // It seals the copy and then opens it, and is asked for once.
    let passcode = keys == .passcodeAndRecoveryKey ? try await dialogue.passcode() : nil
    let dialogue = dialogue
    try await context.request { vault in
      let rekeying = KeyringRekeying(places, in: vault) { dialogue.tell(.done($0.words)) }
      try await rekeying.enable(password: password.bytes) { secret in
        try await sealedCopy(of: secret, under: keys, knowing: passcode)
      } opening: { copy in
        let opened = try await dialogue.trial(of: copy, knowing: copy.keys == .recoveryKey ? nil : passcode)
        if opened == nil {
          dialogue.tell(
            .hint("Not tried. If your recovery key is lost, 'whorl recover --new-key' makes another; then run"))
          dialogue.tell(.hint("'whorl login repair'."))
        }
        return opened
      }
    }
    dialogue.tell(
      .done("The login keyring has a secret of its own. The file from before is kept until a login has opened it."))
  }

  /// Seals a copy of the keyring's secret.
  ///
  /// - Parameter passcode: the store's passcode, if it is known; it is asked for where it seals the copy.
  private func sealedCopy(
    of secret: borrowing SecretBytes, under keys: SealedCopy.Keys, knowing passcode: SharedSecret?
  ) async throws(Failure) -> SealedCopy {
    let secret = SharedSecret(secret.copy())
    let copy: SealedCopy
    switch keys {
    case .recoveryKey:
      copy = try await context.request { try await LoginEntries(in: $0).sealedCopy(of: secret.bytes, under: keys) }
    case .passcodeAndRecoveryKey:
      var manner = ChangeAsking("make the copy of the keyring's secret")
      manner.passcode = passcode
      copy = try await dialogue.asking(manner) { vault, asking in
        try await LoginEntries(in: vault).sealedCopy(of: secret.bytes, under: keys, asking)
      }
    }
    if copy.keys != keys {
      dialogue.tell(
        .problem(
          "Only the recovery key opens the copy of the keyring's secret: in this store the passcode opens no copies.")
      )
    }
    return copy
  }

  // MARK: Back

  /// Gives the keyring a password again.
  package func disable() async throws(Failure) {
    _ = try await context.openStore()
    let places = try context.keyringPlaces()
    try await dialogue.openIfWaiting(to: "give the keyring a password")
    let secret = try await ownSecret(places)
    let password = try await newPassword()
    try await context.request { vault in
      do {
        try await KeyringRekeying(places, in: vault).disable(secret: secret.bytes, password: password.bytes)
      } catch WalletError.wrongSecret {
        throw Failure(
          .refused, "the login keyring does not open with its own secret", name: "errSecAuthFailed",
          advice: "'whorl login repair' finds out what opens it")
      }
    }
    dialogue.tell(.done("The login keyring has its new password, which Whorl does not keep."))
  }

  /// The login password, or another one, with which the person agrees.
  private func newPassword() async throws(Failure) -> SharedSecret {
    if !dialogue.isScripted {
      dialogue.tell(
        .hint("Type your login password for it: then the desktop opens it again when you log in with that."))
    }
    let password = try await dialogue.newPasswordOfWallet(Self.password)
    if await LoginPassword.check(password.bytes) == .wrong {
      let words = "That is not your login password, so that the desktop will ask for it after each login."
      if dialogue.isScripted {
        dialogue.tell(.problem(words))
      } else {
        try await dialogue.confirm("\(words) Take it anyway?", assent: "--password-fd")
      }
    }
    return password
  }

  /// The keyring's own secret, from the store or from the sealed copy.
  private func ownSecret(_ places: KeyringPlaces) async throws(Failure) -> SharedSecret {
    let stored = try await context.request { try await LoginEntries(in: $0).secret(of: KeyringRekeying.entry) }
    let copy = places.sealedCopy
    if let stored {
      // The store may have an earlier secret than the copy, after a restore.
      guard copy != nil, try await !opens(with: stored, places) else { return stored }
      dialogue.tell(.problem("The keyring does not open with the secret of the store: the sealed copy is opened."))
    }
    guard let copy else {
      throw Failure(
        .notFound, "the login keyring has no secret of its own", name: "errSecItemNotFound",
        advice: "'whorl login status' tells what there is")
    }
    return try await dialogue.secret(in: copy)
  }

  private func opens(with secret: SharedSecret, _ places: KeyringPlaces) async throws(Failure) -> Bool {
    do { return try await KeyringTrial(of: places).opens(with: secret.bytes) } catch { throw context.explained(error) }
  }

  // MARK: Repair

  /// Finds out what opens the keyring, and sets the rest right.
  ///
  /// - Parameter keys: what opens the copy from now on; nil: what has opened it.
  package func repair(sealedUnder keys: SealedCopy.Keys?) async throws(Failure) -> KeyringRepair.Outcome {
    let places = try context.keyringPlaces()
    _ = try await context.openStore()
    try await dialogue.openIfWaiting(to: "look at the keyrings")
    let dialogue = dialogue
    let questions = KeyringRepair.Questions {
      guard dialogue.canAskForPasswords else { return nil }
      dialogue.tell(.hint("The keyring does not open with a secret of Whorl's."))
      return try await dialogue.password(Self.password, isOptional: false)
    } sealedSecret: { copy in
      guard dialogue.canOpenCopies else { return nil }
      dialogue.tell(.hint("The store does not have the keyring's secret: the sealed copy is opened."))
      return try await dialogue.secret(in: copy)
    }
    let outcome = try await context.request { vault in
      let repair = KeyringRepair(places, in: vault)
      guard let keys else { return try await repair.run(asking: questions) }
      return try await repair.run(asking: questions) { try await sealedCopy(of: $0, under: keys, knowing: nil) }
    }
    guard outcome != .unknown else {
      throw .interactionNotAllowed(
        "the login keyring does not open with its own secret, and no other password was given",
        advice: "give its password with --password-fd, or the recovery key with --recovery-fd")
    }
    return outcome
  }
}

extension KeyringRekeying.Step {
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

extension KeyringRepair.Outcome {
  /// For a person.
  package var words: String {
    switch self {
    case .nothing: "There is nothing to repair: the login keyring never had a secret of its own here."
    case .ownSecret: "The login keyring opens with its own secret, which the store has; 'whorl login open' opens it."
    case .password: "The login keyring opens with a password, and nothing is left of another secret."
    case .unknown: "The password of the login keyring was not given."
    }
  }
}
