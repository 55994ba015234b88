import Keys
import SecureMemory
import TPM

/// What the passcode's slot needs beside the passcode, as the slot's parameters say.
///
/// In a store of a TPM the key of the slot is derived from the passcode and from a secret that the TPM seals with an
/// authorization value of the passcode. So the passcode can be tried with the TPM alone, which limits the tries.
struct PasscodeLock {
  let scrypt: Scrypt.Parameters
  /// The TPM's part; nil in a store without a TPM.
  let sealed: SealedObject?

  init(parameters: [UInt8]) throws(VaultError) {
    var record = CanonicalDecoder(parameters)
    do {
      scrypt = try Scrypt.Parameters(from: &record)
      sealed = record.isAtEnd ? nil : try SealedObject(from: &record)
    } catch {
      throw .storeDamaged("the parameters of the passcode cannot be read")
    }
    guard record.isAtEnd else { throw .storeDamaged("the parameters of the passcode are too long") }
  }

  /// Throws where no passcode can be tried now: the TPM is not the one, or one more wrong passcode could lock it.
  func requireTry(_ tpm: TPM?) throws(VaultError) {
    guard let sealed else { return }
    guard let tpm else { throw Self.otherTPM }
    do {
      let lockout = try tpm.dictionaryLockout(for: sealed)
      guard lockout.hasRoom else { throw VaultError.passcodeDelayed(seconds: max(1, Int(lockout.interval))) }
    } catch let error as TPMError {
      throw VaultError(tpm: error)
    } catch {
      throw VaultError(storage: error)
    }
  }

  /// The key of the passcode's slot.
  ///
  /// - Parameter stretched: what scrypt made of the passcode.
  /// - Throws: `wrongPasscode` where the TPM refuses it.
  func key(
    of stretched: borrowing SecretBytes, _ databaseID: [UInt8], _ tpm: TPM?
  ) throws(VaultError) -> SecretBytes {
    guard let sealed else { return stretched.copy() }
    guard let tpm else { throw Self.otherTPM }
    do {
      let secret = try tpm.unseal(sealed, authorization: Self.authorization(stretched, databaseID))
      return try Self.key(stretched, secret, databaseID)
    } catch TPMError.wrongAuthorization {
      throw .wrongPasscode
    } catch let error as TPMError {
      throw VaultError(tpm: error)
    } catch let error as KeysError {
      throw VaultError(keys: error)
    } catch {
      throw VaultError(storage: error)
    }
  }

  fileprivate static func authorization(_ stretched: borrowing SecretBytes, _ databaseID: [UInt8])
    throws(KeysError) -> SecretBytes
  {
    try KDF.hkdf(key: stretched, salt: databaseID, info: Array("whorl passcode TPM authorization".utf8))
  }

  /// The key of the slot, from both parts.
  static func key(
    _ stretched: borrowing SecretBytes, _ secret: borrowing SecretBytes, _ databaseID: [UInt8]
  ) throws(KeysError) -> SecretBytes {
    var parts = SecretConcatenation()
    parts.append(tag: 1, stretched)
    parts.append(tag: 2, secret)
    var info = CanonicalEncoding()
    info.append(tag: 1, "whorl passcode slot in a TPM")
    info.append(tag: 2, databaseID)
    return try KDF.wrappingKey(from: parts, info: info.bytes)
  }

  private static let otherTPM = VaultError.tpm(.changed, detail: "")
}

/// The key of a new passcode's slot, and the slot's parameters.
struct LockedPasscode {
  let parameters: [UInt8]
  let key: SecretBox

  /// - Parameter tpm: the TPM to seal in; nil in a store without one. Blocks with one.
  init(_ stretched: StretchedPasscode, _ databaseID: [UInt8], in tpm: TPM?) throws(VaultError) {
    guard let tpm else {
      parameters = stretched.parameters.encoded
      key = stretched.key
      return
    }
    do {
      let secret = try Random.key()
      let sealed = try tpm.seal(
        secret, authorization: PasscodeLock.authorization(stretched.key.secret, databaseID))
      var record = CanonicalEncoding()
      stretched.parameters.append(to: &record)
      sealed.append(to: &record)
      parameters = record.bytes
      key = SecretBox(try PasscodeLock.key(stretched.key.secret, secret, databaseID))
    } catch let error as TPMError {
      throw VaultError(tpm: error)
    } catch let error as KeysError {
      throw VaultError(keys: error)
    } catch {
      throw VaultError(storage: error)
    }
  }
}
