package import Primitives
internal import SecretModel

/// Opens the login keyring in the user's daemon with its own secret.
package struct KeyringOpening: Sendable {
  private let places: KeyringPlaces
  private let limit: Duration

  /// - Parameter limit: how long the daemon may take for each answer.
  package init(_ places: KeyringPlaces, limit: Duration = .seconds(5)) {
    self.places = places
    self.limit = limit
  }

  /// Opens the keyring. Checks the file first: if it is missing or damaged, the daemon accepts any secret and makes a
  /// new one.
  ///
  /// - Throws: what is wrong with the file, `notRunning`, `noAnswer`, `refused`.
  package func open(with secret: borrowing SecretBytes) throws(WalletError) {
    try KeyringFile.requireSealed(places.file)
    let control = KeyringControl(at: places.control, limit: limit)
    if try control.unlock(with: secret) == .done { return }
    // A daemon that GNOME's PAM module has started denies everything until it is told to load its keyrings.
    _ = try control.initialize()
    guard try control.unlock(with: secret) == .done else {
      throw .refused("to open the login keyring: its password was changed by another program")
    }
  }

  /// Removes the copy of the file from before the change. Call it when a login has opened the keyring with its own
  /// secret.
  package func forgetFileOfBefore() throws(WalletError) {
    if PrivateFile.exists(places.before) { try PrivateFile.remove(places.before) }
  }

  /// Renews the sealed copy of the secret if it is missing, or sealed under earlier keys or by another store.
  package func renewSealedCopy(of secret: borrowing SecretBytes, _ entries: LoginEntries) async throws {
    let old = places.sealedCopy
    let current = try await entries.renewedCopy(of: secret, replacing: old)
    guard old != current else { return }
    try PrivateFile.write(current.bytes, to: places.sealed)
  }
}
