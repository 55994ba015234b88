package import Primitives
package import SecretModel

/// Finds out whether the login keyring opens with its own secret or with a password, after an interrupted change or the
/// loss of the store, and repairs Whorl's records. It removes a secret only after a trial has shown that something else
/// opens the keyring.
package struct KeyringRepair: Sendable {
  /// What the repair found.
  package enum Outcome: String, Sendable {
    /// There is no trace of a random secret.
    case nothing
    /// The keyring opens with its own secret, which is in the store and sealed beside the keyring.
    case ownSecret = "own-secret"
    /// The keyring opens with a password. All traces of the secret have been removed.
    case password
    /// The keyring does not open with its own secret, and no password was given that opens it. Nothing was changed.
    case unknown
  }

  /// Questions that only a person can answer. Each returns nil if nobody can be asked.
  package struct Questions: Sendable {
    /// The password of the keyring.
    package var password: @Sendable () async throws -> SharedSecret?
    /// The secret from a sealed copy, opened with the passcode or the recovery key of its store.
    package var sealedSecret: @Sendable (SealedCopy) async throws -> SharedSecret?

    package init(
      password: @escaping @Sendable () async throws -> SharedSecret?,
      sealedSecret: @escaping @Sendable (SealedCopy) async throws -> SharedSecret?
    ) {
      self.password = password
      self.sealedSecret = sealedSecret
    }
  }

  private let places: KeyringPlaces
  private let entries: LoginEntries
  private let rekeying: KeyringRekeying

  package init(_ places: KeyringPlaces, in vault: any VaultService) {
    self.places = places
    entries = LoginEntries(in: vault)
    rekeying = KeyringRekeying(places, in: vault)
  }

  /// - Parameter seal: seals the copy beside the keyring under keys that the person chooses; nil: renews it without a
  ///   prompt.
  /// - Throws: `WalletError`, `VaultError`, and what the questions and `seal` throw.
  package func run(
    asking questions: Questions, sealing seal: ((borrowing SecretBytes) async throws -> SealedCopy)? = nil
  ) async throws -> Outcome {
    let stored = try await entries.secret(of: KeyringRekeying.entry)
    let copy = places.sealedCopy
    guard stored != nil || copy != nil || PrivateFile.exists(places.before) else { return .nothing }
    try putBackLostFile()
    if let stored, try await opens(with: stored.bytes) { return try await settle(on: stored.bytes, seal) }
    // The file is the same as before the change.
    if isUnchanged { return try await settleOnPassword() }
    // The store may have an earlier secret than the copy, after a restore.
    if let copy, let secret = try await questions.sealedSecret(copy),
      try await opens(with: secret.bytes)
    {
      return try await settle(on: secret.bytes, seal)
    }
    guard let password = try await questions.password() else { return .unknown }
    guard try await opens(with: password.bytes) else { throw WalletError.wrongSecret }
    return try await settleOnPassword()
  }

  private var isUnchanged: Bool {
    guard let before = try? PrivateFile.read(places.before), let now = try? PrivateFile.read(places.file) else {
      return false
    }
    return before == now
  }

  /// Restores the copy from before the change if the keyring's file is gone or damaged. Keeps the damaged file beside
  /// it.
  private func putBackLostFile() throws(WalletError) {
    do throws(WalletError) {
      try KeyringFile.requireSealed(places.file)
    } catch {
      switch error {
      case .missing, .damaged: guard (try? KeyringFile.requireSealed(places.before)) != nil else { throw error }
      default: throw error
      }
      if PrivateFile.exists(places.file) { try PrivateFile.move(places.file, to: places.file + ".damaged") }
      try PrivateFile.write(try PrivateFile.read(places.before), to: places.file)
    }
  }

  private func settle(
    on secret: borrowing SecretBytes, _ seal: ((borrowing SecretBytes) async throws -> SealedCopy)?
  ) async throws -> Outcome {
    let copy =
      if let seal { try await seal(secret) } else {
        try await entries.renewedCopy(of: secret, replacing: places.sealedCopy)
      }
    try await entries.put(KeyringRekeying.entry, secret: secret)
    try PrivateFile.write(copy.bytes, to: places.sealed)
    try rekeying.removeLeftovers()
    return .ownSecret
  }

  private func settleOnPassword() async throws -> Outcome {
    try await rekeying.removeAll()
    return .password
  }

  private func opens(with secret: borrowing SecretBytes) async throws -> Bool {
    try await KeyringTrial(of: places).opens(with: secret)
  }
}
