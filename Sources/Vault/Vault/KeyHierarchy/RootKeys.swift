import Keys
import SecureMemory

/// What is derived from the root key: one key for each use, under a label of its own.
struct RootKeys: ~Copyable {
  let root: SecretBytes
  let databaseID: [UInt8]
  /// Seals the authenticated record of failures and epochs.
  let authority: SecretBytes
  /// Keys the manifest beside the database.
  let manifest: SecretBytes
  /// Keys the equality columns.
  let index: SecretBytes
  /// Seals the attributes of items.
  let attributes: SecretBytes

  init(root: consuming SecretBytes, databaseID: [UInt8]) throws(VaultError) {
    // All four before any is stored: a value that cannot be copied is made whole or not at all.
    let authority = try Self.derive(root, "authority", databaseID)
    let manifest = try Self.derive(root, "manifest", databaseID)
    let index = try Self.derive(root, "index", databaseID)
    let attributes = try Self.derive(root, "attributes", databaseID)
    self.authority = authority
    self.manifest = manifest
    self.index = index
    self.attributes = attributes
    self.root = root
    self.databaseID = databaseID
  }

  /// The key for another use, derived when it is needed.
  func derive(_ use: String) throws(VaultError) -> SecretBytes {
    try Self.derive(root, use, databaseID)
  }

  private static func derive(_ root: borrowing SecretBytes, _ use: String, _ databaseID: [UInt8]) throws(VaultError)
    -> SecretBytes
  {
    do {
      return try KDF.hkdf(key: root, salt: databaseID, info: Array("whorl root \(use)".utf8))
    } catch {
      throw VaultError(keys: error)
    }
  }
}

extension VaultError {
  /// A failure of the cryptographic library. Failed authentication is decided where it happens, so here it is damage.
  init(keys error: KeysError) {
    switch error {
    case .authenticationFailed: self = .storeDamaged("a sealed part does not verify")
    case .badParameters(let what): self = .storeDamaged(what)
    default: self = .internalError("OpenSSL: \(error)")
    }
  }
}
