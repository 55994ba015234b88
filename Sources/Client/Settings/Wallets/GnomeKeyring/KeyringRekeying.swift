package import Primitives
package import SecretModel

/// Replaces the login keyring's password by a random secret of its own, and back.
///
/// After every step ``KeyringRepair`` can find out whether the password or the secret opens the keyring. The secret is
/// stored, and sealed beside the keyring, before the keyring is changed to it. It is removed only after a trial has
/// shown that something else opens the keyring.
package struct KeyringRekeying: Sendable {
  /// What has been done so far.
  package enum Step: String, Sendable, CaseIterable {
    /// The sealed copy was opened without the store, as a test.
    case walked
    /// A copy of the keyring was changed to the secret, and only the secret opens it.
    case rehearsed
    /// The secret is in the store.
    case stored
    /// The secret is sealed beside the keyring.
    case sealed
    /// A copy of the keyring's file from before the change is beside it.
    case kept
    /// The user's daemon has changed the keyring.
    case changed
    /// A trial has shown that the new secret opens the keyring's file.
    case verified
    /// The keyring is open in the user's daemon.
    case opened
    /// Files and items that are no longer needed have been removed.
    case removed
  }

  private let places: KeyringPlaces
  private let entries: LoginEntries
  private let done: @Sendable (Step) async throws -> Void
  private var control: KeyringControl { KeyringControl(at: places.control) }

  /// The entry of the login keyring.
  package static let entry = LoginItem(.gnomeKeyring, name: KeyringPlaces.collection)

  /// - Parameter done: called after each step. If it throws, the change ends there.
  package init(
    _ places: KeyringPlaces, in vault: any VaultService,
    done: @escaping @Sendable (Step) async throws -> Void = { _ in }
  ) {
    self.places = places
    entries = LoginEntries(in: vault)
    self.done = done
  }

  /// Gives the keyring a secret of its own.
  ///
  /// - Parameters:
  ///   - password: the current password.
  ///   - seal: seals the copy to keep beside the keyring. It is called before anything is changed, since it may ask for
  ///     the passcode.
  ///   - openCopy: opens that copy with the person's passcode or recovery key. It is called before anything is changed,
  ///     to prove that the copy can be opened. Nil if the person goes on without this proof.
  /// - Throws: `WalletError` and `VaultError`; `wrongSecret` if the password is wrong. If the daemon has not changed
  ///   the keyring, nothing has changed.
  package func enable(
    password: borrowing SecretBytes, sealing seal: (borrowing SecretBytes) async throws -> SealedCopy,
    opening openCopy: (SealedCopy) async throws -> SharedSecret?
  ) async throws {
    guard try await !entries.has(Self.entry) else { throw VaultError.duplicateItem }
    try control.requireListening()
    let secret = try KeyringSecret.make()
    let copy = try await seal(secret)
    if let opened = try await openCopy(copy) {
      guard opened.bytes.constantTimeEquals(secret) else { throw WalletError.copyUnverified }
      try await done(.walked)
    }
    do {
      let trial = try KeyringTrial(of: places)
      try await trial.rehearse(from: password, to: secret)
    }
    try await done(.rehearsed)
    try await entries.put(Self.entry, secret: secret)
    try await done(.stored)
    try PrivateFile.write(copy.bytes, to: places.sealed)
    guard places.sealedCopy == copy else {
      try await removeAll()
      throw WalletError.copyUnverified
    }
    try await done(.sealed)
    try PrivateFile.write(try PrivateFile.read(places.file), to: places.before)
    try await done(.kept)
    do throws(WalletError) {
      guard try control.change(from: password, to: secret) == .done else {
        throw .refused("to give the login keyring another password")
      }
    } catch {
      // The daemon may have made the change even though its answer did not arrive.
      if try await !opens(with: secret) {
        try await removeAll()
        throw error
      }
    }
    try await done(.changed)
    guard try await opens(with: secret) else { throw WalletError.unverified }
    try await done(.verified)
    try await open(with: secret)
    try removeLeftovers()
    try await done(.removed)
  }

  /// Gives the keyring a password back.
  ///
  /// - Parameters:
  ///   - secret: the current secret.
  ///   - password: the new password. If it is the login password, GNOME's PAM module opens the keyring.
  package func disable(secret: borrowing SecretBytes, password: borrowing SecretBytes) async throws {
    try control.requireListening()
    do {
      let trial = try KeyringTrial(of: places)
      try await trial.rehearse(from: secret, to: password)
    }
    try await done(.rehearsed)
    do throws(WalletError) {
      guard try control.change(from: secret, to: password) == .done else {
        throw .refused("to give the login keyring another password")
      }
    } catch {
      if try await !opens(with: password) { throw error }
    }
    try await done(.changed)
    guard try await opens(with: password) else { throw WalletError.unverified }
    try await done(.verified)
    try await open(with: password)
    try await removeAll()
    try await done(.removed)
  }

  /// Opens the keyring in the user's daemon. The daemon then also forgets a secret that it has denied, which it would
  /// otherwise make the keyring's next password.
  private func open(with secret: borrowing SecretBytes) async throws {
    guard try control.unlock(with: secret) == .done else {
      throw WalletError.refused("to open the login keyring after it was changed")
    }
    try await done(.opened)
  }

  private func opens(with secret: borrowing SecretBytes) async throws -> Bool {
    try await KeyringTrial(of: places).opens(with: secret)
  }

  /// Removes the files that the daemon leaves when it ends in the middle of a change: the older password opens them.
  func removeLeftovers() throws(WalletError) {
    for name in Folder.names(in: places.folder) ?? [] where name.hasPrefix(KeyringPlaces.leftover) {
      try PrivateFile.remove("\(places.folder)/\(name)")
    }
  }

  /// Removes everything that Whorl keeps for a keyring with a secret of its own.
  func removeAll() async throws {
    try removeLeftovers()
    try PrivateFile.remove(places.before)
    try await entries.remove(Self.entry)
    try PrivateFile.remove(places.sealed)
  }
}
