import GRDB
package import Keys
package import Primitives

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
      throw VaultError(cause: error)
    }
  }
}

/// A row of the `slot` table: a key of the store, wrapped under another key.
package struct Slot {
  package enum Name: Hashable {
    /// The root key under the key file, a credential's key, or a key that the TPM seals (``DeviceSlot``).
    case device
    /// The root key under the recovery key.
    case recovery
    /// The passcode key under a key that scrypt derives from the passcode, and from a secret of the TPM or the
    /// credential if there is one (``PasscodeLock``). A passcode is right if it opens this slot.
    case passcode
    /// The passcode key, sealed for the recovery key's pair.
    case passcodeKeyByRecovery
    /// The public half of the recovery key's pair, sealed under the passcode key, so that nobody without the passcode
    /// can replace it.
    case recoveryPublicKey
    /// The public half of the passcode's key pair, stored as the parameters. The slot wraps nothing.
    case passcodePublicKey
    /// A class key under the root key.
    case classKey(Accessibility)
    /// The keys of the store's circle under the root key, with the records of the circle as the parameters.
    case circle
    /// The key with which this machine opens what its circle shares under the passcode, sealed for the passcode's pair.
    case circlePasscodeKey
    /// The class key of `after-first-unlock` under the root key as well, if a login may open it without the passcode.
    case loginKey

    var text: String {
      switch self {
      case .device: "device"
      case .recovery: "recovery"
      case .passcode: "passcode"
      case .passcodeKeyByRecovery: "passcode-key by recovery"
      case .recoveryPublicKey: "recovery public key"
      case .passcodePublicKey: "passcode public key"
      case .classKey(let accessibility): "class \(accessibility.rawValue)"
      case .circle: "circle"
      case .circlePasscodeKey: "circle passcode key"
      case .loginKey: "login"
      }
    }
  }

  var name: Name
  /// How the wrapping key is derived: scrypt's parameters, what the TPM has sealed, or the public half of a pair made
  /// for this slot; empty if nothing is needed.
  package var parameters: [UInt8]
  package var box: [UInt8]

  package init(name: Name, parameters: [UInt8], box: [UInt8]) {
    self.name = name
    self.parameters = parameters
    self.box = box
  }

  /// Wraps a key. `keyEncryption` may be any key of full strength: the slot's name separates its uses.
  package init(
    _ name: Name, wrapping key: borrowing SecretBytes, under keyEncryption: borrowing SecretBytes,
    databaseID: [UInt8], parameters: [UInt8] = []
  ) throws(VaultError) {
    self.name = name
    self.parameters = parameters
    let aad = Self.aad(name, parameters, databaseID)
    do {
      let wrapping = try KDF.hkdf(key: keyEncryption, salt: databaseID, info: Self.info(aad))
      box = try AEAD.seal(key, key: wrapping, aad: aad)
    } catch {
      throw VaultError(cause: error)
    }
  }

  /// The wrapped key; `authenticationFailed` when it was wrapped under another key.
  package func unwrap(under keyEncryption: borrowing SecretBytes, databaseID: [UInt8]) throws(KeysError) -> SecretBytes
  {
    let aad = Self.aad(name, parameters, databaseID)
    return try AEAD.open(box, key: KDF.hkdf(key: keyEncryption, salt: databaseID, info: Self.info(aad)), aad: aad)
  }

  /// The wrapped key; `wrong` when it was wrapped under another key.
  package func unwrap(
    under keyEncryption: borrowing SecretBytes, databaseID: [UInt8], otherwise wrong: VaultError
  ) throws(VaultError) -> SecretBytes {
    do {
      return try unwrap(under: keyEncryption, databaseID: databaseID)
    } catch .authenticationFailed {
      throw wrong
    } catch {
      throw VaultError(cause: error)
    }
  }

  /// The digest of the row that the authority record keeps.
  package func digest() -> [UInt8] { Self.digest(name.text, parameters: parameters, box: box) }

  static func digest(_ name: String, parameters: [UInt8], box: [UInt8]) -> [UInt8] {
    var row = CanonicalEncoding()
    row.append(tag: 1, name)
    row.append(tag: 2, parameters)
    row.append(tag: 3, box)
    return Digest.sha256(row.bytes)
  }

  /// What HKDF takes for a slot: a digest of parameters that are too long for it, as those of a circle can be.
  private static func info(_ aad: [UInt8]) -> [UInt8] { aad.count <= KDF.longestInfo ? aad : Digest.sha256(aad) }

  private static func aad(_ name: Name, _ parameters: [UInt8], _ databaseID: [UInt8]) -> [UInt8] {
    var aad = CanonicalEncoding()
    aad.append(tag: 1, UInt64(StoreDatabase.format))
    aad.append(tag: 2, databaseID)
    aad.append(tag: 3, "slot")
    aad.append(tag: 4, name.text)
    aad.append(tag: 5, parameters)
    return aad.bytes
  }
}

extension RecoveryKey {
  /// The HKDF info for the key of the recovery slot.
  package static let slotInfo = Array("whorl recovery".utf8)

  /// The key of the recovery slot, from the text of the recovery key.
  package static func slotKey(of text: borrowing SecretBytes) throws(VaultError) -> SecretBytes {
    let key: RecoveryKey
    do {
      key = try RecoveryKey(parsing: text)
    } catch {
      throw .malformedRecoveryKey
    }
    do {
      return try key.key(info: slotInfo)
    } catch {
      throw VaultError(cause: error)
    }
  }
}

extension Scrypt.Parameters {
  package var encoded: [UInt8] {
    var record = CanonicalEncoding()
    append(to: &record)
    return record.bytes
  }

  func append(to record: inout CanonicalEncoding) {
    record.append(tag: 1, UInt64(logN))
    record.append(tag: 2, UInt64(r))
    record.append(tag: 3, UInt64(p))
    record.append(tag: 4, salt)
  }

  /// Decodes stored parameters. Their values are checked where they are used.
  package init(encoded: [UInt8]) throws(VaultError) {
    var record = CanonicalDecoder(encoded)
    do {
      try self.init(from: &record)
    } catch {
      throw .storeDamaged("the parameters of a passcode cannot be read")
    }
  }

  init(from record: inout CanonicalDecoder) throws(CanonicalDecoder.Unexpected) {
    self.init(
      logN: Int(clamping: try record.number(1)), r: Int(clamping: try record.number(2)),
      p: Int(clamping: try record.number(3)), salt: try record.bytes(4))
  }
}

extension StoreDatabase {
  /// The database's id, to which every box is bound.
  package func identity() throws(VaultError) -> [UInt8] {
    do {
      guard let row = try queue.read({ db in try Row.fetchOne(db, sql: "SELECT database_id FROM store") }) else {
        throw VaultError.storeDamaged("it has no identity")
      }
      return row.bytes(0)
    } catch {
      throw VaultError(cause: error)
    }
  }

  /// A slot without verification: before the root key is known, there are no keys to verify with.
  package func rawSlot(_ name: Slot.Name) throws(VaultError) -> Slot? {
    do {
      return try queue.read { db in
        try Row.fetchOne(db, sql: "SELECT parameters, box FROM slot WHERE name = ?", arguments: [name.text])
          .map { Slot(name: name, parameters: $0.bytes(0), box: $0.bytes(1)) }
      }
    } catch {
      throw VaultError(cause: error)
    }
  }
}

/// X25519 key pairs derived from a key of the hierarchy. With the public half, data can be sealed for the owner of that
/// key without asking for it: adding an item must not ask for the passcode (docs/decisions/0012), and changing the
/// passcode must not ask for the recovery key (docs/decisions/0018).
package enum DerivedPair: String {
  /// The pair of the passcode key.
  case passcode = "whorl passcode X25519"
  /// The pair of the recovery key.
  case recovery = "whorl recovery X25519"
  /// The pair of a class key, for what other machines of the circle share with this one.
  case circleClass = "whorl circle class X25519"

  package func privateKey(of key: borrowing SecretBytes, _ databaseID: [UInt8]) throws(KeysError) -> SecretBytes {
    try KDF.hkdf(key: key, salt: databaseID, info: Array(rawValue.utf8))
  }

  package func publicKey(of key: borrowing SecretBytes, _ databaseID: [UInt8]) throws(KeysError) -> [UInt8] {
    try X25519.publicKey(of: privateKey(of: key, databaseID))
  }
}
