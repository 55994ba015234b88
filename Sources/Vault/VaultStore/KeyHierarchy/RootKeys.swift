package import Keys
package import SecureMemory

/// The keys derived from the root key: one for each use, with its own label.
package struct RootKeys: ~Copyable {
  package let root: SecretBytes
  package let databaseID: [UInt8]
  /// Seals the authority record.
  let authority: SecretBytes
  /// Authenticates the manifest beside the database.
  package let manifest: SecretBytes
  /// The HMAC key of the index columns.
  package let index: SecretBytes
  /// Seals the attributes of items.
  let attributes: SecretBytes

  package init(root: consuming SecretBytes, databaseID: [UInt8]) throws(VaultError) {
    // Derive all four before storing any: a noncopyable value must not be left partly initialized by a throw.
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

  /// Derives the key for another use, when it is needed.
  package func derive(_ use: String) throws(VaultError) -> SecretBytes {
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
  /// The error for a failure of the cryptographic library. Callers handle expected authentication failures themselves,
  /// so any other means damage.
  package init(keys error: KeysError) {
    switch error {
    case .authenticationFailed: self = .storeDamaged("a sealed part does not verify")
    case .badParameters(let what): self = .storeDamaged(what)
    default: self = .internalError("OpenSSL: \(error)")
    }
  }
}
