import Keys
import SecretModel
import SecureMemory
import TPM

/// What opens the device slot, as its parameters say: the tier of the store.
enum DeviceSlot {
  /// A key in a file beside the database.
  case keyFile
  /// A key that the TPM opens for everybody who may use the TPM. The passcode has no part in it, so that wrong
  /// passcodes can be counted before one was right (docs/decisions/0086).
  case tpm(SealedObject)

  var tier: VaultStatus.Tier {
    switch self {
    case .keyFile: .keyFile
    case .tpm: .tpm
    }
  }

  var parameters: [UInt8] {
    switch self {
    case .keyFile: return []
    case .tpm(let sealed):
      var record = CanonicalEncoding()
      sealed.append(to: &record)
      return record.bytes
    }
  }

  init(parameters: [UInt8]) throws(VaultError) {
    guard !parameters.isEmpty else {
      self = .keyFile
      return
    }
    var record = CanonicalDecoder(parameters)
    guard let sealed = try? SealedObject(from: &record), record.isAtEnd else {
      throw .storeDamaged("the parameters of the device slot cannot be read")
    }
    self = .tpm(sealed)
  }

  /// The TPM that opens the slot, and seals what is sealed anew to the same registers; nil for a key file.
  ///
  /// - Throws: `tpm` where the machine has none.
  func tpm(in storage: RootStorage) throws(VaultError) -> TPM? {
    switch self {
    case .keyFile: nil
    case .tpm(let sealed): try storage.requireTPM().sealing(to: sealed.registers)
    }
  }

  /// The key of the slot.
  ///
  /// - Throws: `deviceKeyMissing`; `tpm`.
  func key(in directory: StoreDirectory, _ tpm: TPM?) throws(VaultError) -> SecretBytes {
    guard case .tpm(let sealed) = self, let tpm else { return try DeviceKey.read(in: directory) }
    do {
      return try tpm.unseal(sealed)
    } catch {
      throw VaultError(tpm: error)
    }
  }

  /// Wraps the root key under a new key, and keeps that in the TPM, or in a file if there is none.
  static func slot(
    wrapping root: borrowing SecretBytes, of databaseID: [UInt8], in directory: StoreDirectory, _ tpm: TPM?
  ) throws(VaultError) -> Slot {
    do {
      let key = try Random.key(DeviceKey.count)
      let device: DeviceSlot
      if let tpm {
        device = .tpm(try tpm.seal(key))
      } else {
        try DeviceKey.write(key, in: directory)
        device = .keyFile
      }
      return try Slot(.device, wrapping: root, under: key, databaseID: databaseID, parameters: device.parameters)
    } catch let error as TPMError {
      throw VaultError(tpm: error)
    } catch let error as KeysError {
      throw VaultError(keys: error)
    } catch {
      throw VaultError(storage: error)
    }
  }
}

extension SealedObject {
  private enum Tag {
    static let storageKey: UInt8 = 32
    static let publicPart: UInt8 = 33
    static let privatePart: UInt8 = 34
    static let registers: UInt8 = 35
  }

  func append(to record: inout CanonicalEncoding) {
    record.append(tag: Tag.storageKey, storageKey)
    record.append(tag: Tag.publicPart, publicPart)
    record.append(tag: Tag.privatePart, privatePart)
    if !registers.isEmpty { record.append(tag: Tag.registers, registers.numbers) }
  }

  init(from record: inout CanonicalDecoder) throws(CanonicalDecoder.Unexpected) {
    let (storageKey, publicPart) = (try record.bytes(Tag.storageKey), try record.bytes(Tag.publicPart))
    let privatePart = try record.bytes(Tag.privatePart)
    let numbers = try record.nextTag == Tag.registers ? record.bytes(Tag.registers) : []
    guard let registers = PlatformRegisters(numbers) else { throw CanonicalDecoder.Unexpected() }
    self.init(storageKey: storageKey, publicPart: publicPart, privatePart: privatePart, registers: registers)
  }
}
