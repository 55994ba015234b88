import Keys
import SecureMemory

/// A key of the store, wrapped under another: a row of the `slot` table.
struct Slot {
  enum Name: Hashable {
    /// The root key under the key file.
    case device
    /// The root key under the recovery key.
    case recovery
    /// The passcode key under scrypt of the passcode: a passcode is right when it opens this.
    case passcode
    /// The passcode key, for the recovery key's pair.
    case passcodeKeyByRecovery
    /// The public half of the recovery key's pair, sealed under the passcode key, so that nobody without the passcode
    /// puts another in its place.
    case recoveryPublicKey
    /// The public half of the passcode's key pair, in place of parameters; nothing is wrapped in it.
    case passcodePublicKey
    /// A class key under the root key.
    case classKey(Accessibility)

    var text: String {
      switch self {
      case .device: "device"
      case .recovery: "recovery"
      case .passcode: "passcode"
      case .passcodeKeyByRecovery: "passcode-key by recovery"
      case .recoveryPublicKey: "recovery public key"
      case .passcodePublicKey: "passcode public key"
      case .classKey(let accessibility): "class \(accessibility.rawValue)"
      }
    }
  }

  var name: Name
  /// What the wrapping key was made with: scrypt's parameters, or the public half of a pair made for this slot; empty
  /// where it needs neither.
  var parameters: [UInt8]
  var box: [UInt8]

  init(name: Name, parameters: [UInt8], box: [UInt8]) {
    self.name = name
    self.parameters = parameters
    self.box = box
  }

  /// Wraps a key: `keyEncryption` is any key of full strength; the slot's own name separates its use.
  init(
    _ name: Name, wrapping key: borrowing SecretBytes, under keyEncryption: borrowing SecretBytes,
    databaseID: [UInt8], parameters: [UInt8] = []
  ) throws(VaultError) {
    self.name = name
    self.parameters = parameters
    let aad = Self.aad(name, parameters, databaseID)
    do {
      let wrapping = try KDF.hkdf(key: keyEncryption, salt: databaseID, info: aad)
      box = try AEAD.seal(key, key: wrapping, aad: aad)
    } catch {
      throw VaultError(keys: error)
    }
  }

  /// The wrapped key; `authenticationFailed` when it was wrapped under another key.
  func unwrap(under keyEncryption: borrowing SecretBytes, databaseID: [UInt8]) throws(KeysError) -> SecretBytes {
    let aad = Self.aad(name, parameters, databaseID)
    return try AEAD.open(box, key: KDF.hkdf(key: keyEncryption, salt: databaseID, info: aad), aad: aad)
  }

  /// What the authority remembers of the row.
  func digest() -> [UInt8] { Self.digest(name.text, parameters: parameters, box: box) }

  static func digest(_ name: String, parameters: [UInt8], box: [UInt8]) -> [UInt8] {
    var row = CanonicalEncoding()
    row.append(tag: 1, name)
    row.append(tag: 2, parameters)
    row.append(tag: 3, box)
    return Digest.sha256(row.bytes)
  }

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

extension Scrypt.Parameters {
  var encoded: [UInt8] {
    var record = CanonicalEncoding()
    record.append(tag: 1, UInt64(logN))
    record.append(tag: 2, UInt64(r))
    record.append(tag: 3, UInt64(p))
    record.append(tag: 4, salt)
    return record.bytes
  }

  /// Reads stored parameters; their size is checked where they are used.
  init(encoded: [UInt8]) throws(VaultError) {
    var record = CanonicalDecoder(encoded)
    do {
      self.init(
        logN: Int(clamping: try record.number(1)), r: Int(clamping: try record.number(2)),
        p: Int(clamping: try record.number(3)), salt: try record.bytes(4))
    } catch {
      throw .storeDamaged("the parameters of a passcode cannot be read")
    }
  }
}
