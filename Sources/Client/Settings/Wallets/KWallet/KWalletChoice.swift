package import Primitives
package import SecretModel

/// Lets logins open the wallet by keeping its key as an entry of the store. The wallet itself is not changed, and its
/// password still opens it.
package struct KWalletChoice: Sendable {
  /// Derives the wallet's key from its password and the salt beside it.
  package typealias Derivation = @Sendable (_ password: SharedSecret, _ salt: [UInt8]) async throws -> SharedSecret

  /// What the repair found.
  package enum Outcome: String, Sendable {
    /// The store has no key of the wallet.
    case nothing
    /// The key in the store opens it.
    case opens
    /// The key in the store did not open the wallet, and was replaced with the key of its new password.
    case replaced
    /// The key in the store does not open the wallet, and its password was not given.
    case unknown
  }

  /// The entry of the wallet.
  package static let entry = LoginItem(.kwallet, name: KWalletPlaces.wallet)

  private let places: KWalletPlaces
  private let entries: LoginEntries
  private let derive: Derivation

  package init(_ places: KWalletPlaces, in vault: any VaultService, derive: @escaping Derivation) {
    self.places = places
    entries = LoginEntries(in: vault)
    self.derive = derive
  }

  /// The wallet's key, made of its password, after it has opened a copy. Nil if the password is wrong.
  ///
  /// - Throws: errors for damaged files.
  package func key(from password: SharedSecret) async throws -> SharedSecret? {
    let trial = try KWalletTrial(of: places)
    let key = try await derive(password, try KWalletFile.salt(of: places))
    return try await trial.opens(with: key.bytes) ? key : nil
  }

  /// Stores the wallet's key.
  package func keep(_ key: SharedSecret) async throws(VaultError) {
    try await entries.put(Self.entry, secret: key.bytes)
  }

  /// Stores the key of the wallet, after checking that the key opens a copy.
  ///
  /// - Throws: `wrongSecret` if the password is wrong, and errors for damaged files.
  package func enable(password: SharedSecret) async throws {
    guard let key = try await key(from: password) else { throw WalletError.wrongSecret }
    try await keep(key)
  }

  /// Removes the key.
  package func disable() async throws(VaultError) { try await entries.remove(Self.entry) }

  /// Checks whether the key still opens the wallet, and asks for the password if it does not.
  ///
  /// - Parameter password: returns nil if nobody can be asked.
  package func repair(asking password: @Sendable () async throws -> SharedSecret?) async throws -> Outcome {
    guard let key = try await entries.secret(of: Self.entry) else { return .nothing }
    if try await opens(with: key) { return .opens }
    guard let password = try await password() else { return .unknown }
    try await enable(password: password)
    return .replaced
  }

  private func opens(with key: SharedSecret) async throws(WalletError) -> Bool {
    try await KWalletTrial(of: places).opens(with: key.bytes)
  }
}
