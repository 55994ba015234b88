package import Keys
package import Primitives

/// What the passcode's slot needs beside the passcode, as the slot's parameters say.
///
/// In a store of a TPM the key of the slot is derived from the passcode and from a secret that the TPM seals with an
/// authorization value derived from the passcode. So a passcode can be tried only with the TPM, which limits the tries.
/// In a store of a credential the key is derived from the passcode and the credential.
package struct PasscodeLock {
  /// What the slot needs beside scrypt's output.
  enum Part {
    case nothing
    /// The credential of this id.
    case credential(id: [UInt8])
    case tpm(SealedObject)
  }

  package let scrypt: Scrypt.Parameters
  let part: Part

  /// Whether the passcode alone opens the slot.
  package var needsPasscodeAlone: Bool {
    if case .nothing = part { true } else { false }
  }

  package init(parameters: [UInt8]) throws(VaultError) {
    var record = CanonicalDecoder(parameters)
    do {
      scrypt = try Scrypt.Parameters(from: &record)
      if record.isAtEnd {
        part = .nothing
      } else if record.nextTag == Credential.tag {
        part = .credential(id: try record.bytes(Credential.tag))
      } else {
        part = .tpm(try SealedObject(from: &record))
      }
    } catch {
      throw .storeDamaged("the parameters of the passcode cannot be read")
    }
    guard record.isAtEnd else { throw .storeDamaged("the parameters of the passcode are too long") }
  }

  /// Throws where no passcode can be tried now: the store was sealed in another TPM or under another credential, or one
  /// more wrong passcode could lock the TPM.
  package func requireTry(_ seal: DeviceSeal) throws(VaultError) {
    let (sealed, tpm): (SealedObject, TPM)
    switch part {
    case .nothing: return
    case .credential(let id):
      _ = try Self.credential(id, seal)
      return
    case .tpm(let object): (sealed, tpm) = (object, try Self.tpm(seal))
    }
    do {
      let lockout = try tpm.dictionaryLockout(for: sealed)
      guard lockout.hasRoom else { throw VaultError.passcodeDelayed(seconds: max(1, Int(lockout.interval))) }
    } catch {
      throw VaultError(cause: error)
    }
  }

  /// The key of the passcode's slot.
  ///
  /// - Parameter stretched: what scrypt made of the passcode.
  /// - Throws: `wrongPasscode` where the TPM refuses it.
  package func key(
    of stretched: borrowing SecretBytes, _ databaseID: [UInt8], _ seal: DeviceSeal
  ) throws(VaultError) -> SecretBytes {
    do {
      switch part {
      case .nothing: return stretched.copy()
      case .credential(let id):
        return try Self.key(stretched, Self.credential(id, seal), databaseID)
      case .tpm(let sealed):
        let secret = try Self.tpm(seal).unseal(sealed, authorization: Self.authorization(stretched, databaseID))
        return try Self.key(stretched, secret, databaseID)
      }
    } catch TPMError.wrongAuthorization {
      throw .wrongPasscode
    } catch {
      throw VaultError(cause: error)
    }
  }

  fileprivate static func authorization(_ stretched: borrowing SecretBytes, _ databaseID: [UInt8])
    throws(KeysError) -> SecretBytes
  {
    try KDF.hkdf(key: stretched, salt: databaseID, info: Array("whorl passcode TPM authorization".utf8))
  }

  /// The key of the slot, derived from scrypt's output and a secret of the TPM.
  static func key(
    _ stretched: borrowing SecretBytes, _ secret: borrowing SecretBytes, _ databaseID: [UInt8]
  ) throws(KeysError) -> SecretBytes {
    try key(stretched, secret, databaseID, of: "whorl passcode slot in a TPM")
  }

  /// The key of the slot, derived from scrypt's output and a credential.
  static func key(
    _ stretched: borrowing SecretBytes, _ credential: Credential, _ databaseID: [UInt8]
  ) throws(KeysError) -> SecretBytes {
    try key(stretched, credential.passcodePart.bytes, databaseID, of: "whorl passcode slot under a credential")
  }

  private static func key(
    _ stretched: borrowing SecretBytes, _ secret: borrowing SecretBytes, _ databaseID: [UInt8], of slot: String
  ) throws(KeysError) -> SecretBytes {
    var parts = SecretConcatenation()
    parts.append(tag: 1, stretched)
    parts.append(tag: 2, secret)
    var info = CanonicalEncoding()
    info.append(tag: 1, slot)
    info.append(tag: 2, databaseID)
    return try KDF.wrappingKey(from: parts, info: info.bytes)
  }

  /// The TPM of the store. Throws if the device slot is no longer in a TPM, because it was made anew elsewhere.
  private static func tpm(_ seal: DeviceSeal) throws(VaultError) -> TPM {
    guard let tpm = seal.tpm else { throw .tpm(.changed, detail: "") }
    return tpm
  }

  private static func credential(_ id: [UInt8], _ seal: DeviceSeal) throws(VaultError) -> Credential {
    guard case .credential(let credential) = seal, credential.id == id else { throw .credential(.changed, detail: "") }
    return credential
  }
}

/// The key of a new passcode's slot, and the slot's parameters.
package struct LockedPasscode {
  let parameters: [UInt8]
  let key: SharedSecret

  /// - Parameter seal: that of the store. Blocks with a TPM.
  package init(_ stretched: StretchedPasscode, _ databaseID: [UInt8], in seal: DeviceSeal) throws(VaultError) {
    var record = CanonicalEncoding()
    stretched.parameters.append(to: &record)
    do {
      switch seal {
      case .keyFile: key = stretched.key
      case .credential(let credential):
        record.append(tag: Credential.tag, credential.id)
        key = SharedSecret(try PasscodeLock.key(stretched.key.bytes, credential, databaseID))
      case .tpm(let tpm):
        let secret = try Random.key()
        let sealed = try tpm.seal(
          secret, authorization: PasscodeLock.authorization(stretched.key.bytes, databaseID))
        sealed.append(to: &record)
        key = SharedSecret(try PasscodeLock.key(stretched.key.bytes, secret, databaseID))
      }
      parameters = record.bytes
    } catch {
      throw VaultError(cause: error)
    }
  }
}

/// The requirements for a store's passcode.
package struct PasscodeRule: Sendable {
  /// The fewest bytes of a new passcode, by default.
  package static let shortestByDefault = 4

  /// The fewest bytes of a new passcode.
  package var shortest = shortestByDefault
  /// Whether a passcode is required: it can be changed, but not removed.
  package var isRequired = false

  package init(shortest: Int = shortestByDefault, isRequired: Bool = false) {
    (self.shortest, self.isRequired) = (shortest, isRequired)
  }
}
