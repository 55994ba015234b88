import Keys
import SecretModel
package import SecureMemory
package import TPM

/// What opens the device slot, as its parameters say: the tier of the store.
package enum DeviceSlot {
  /// A key in a file beside the database.
  case keyFile
  /// A key that is derived from the credential of this id.
  case credential(id: [UInt8])
  /// A key that the TPM opens for everybody who may use the TPM. The passcode has no part in it, so that wrong
  /// passcodes can be counted before one was right (docs/decisions/0086).
  case tpm(SealedObject)

  var parameters: [UInt8] {
    switch self {
    case .keyFile: return []
    case .credential(let id):
      var record = CanonicalEncoding()
      record.append(tag: Credential.tag, id)
      return record.bytes
    case .tpm(let sealed):
      var record = CanonicalEncoding()
      sealed.append(to: &record)
      return record.bytes
    }
  }

  package init(parameters: [UInt8]) throws(VaultError) {
    guard !parameters.isEmpty else {
      self = .keyFile
      return
    }
    var record = CanonicalDecoder(parameters)
    do {
      if record.nextTag == Credential.tag {
        self = .credential(id: try record.bytes(Credential.tag))
      } else {
        self = .tpm(try SealedObject(from: &record))
      }
    } catch {
      throw .storeDamaged("the parameters of the device slot cannot be read")
    }
    guard record.isAtEnd else { throw .storeDamaged("the parameters of the device slot are too long") }
  }

  /// The key of the slot.
  ///
  /// - Parameter seal: what opens the slot (``RootStorage/seal(of:)``).
  /// - Throws: `deviceKeyMissing`; `tpm`.
  package func key(in directory: StoreDirectory, _ seal: DeviceSeal) throws(VaultError) -> SecretBytes {
    switch (self, seal) {
    case (.tpm(let sealed), .tpm(let tpm)):
      do {
        return try tpm.unseal(sealed)
      } catch {
        throw VaultError(cause: error)
      }
    case (_, .credential(let credential)): return credential.deviceKey.bytes.copy()
    default: return try DeviceKey.read(in: directory)
    }
  }

  /// Wraps the root key under a new key in the TPM or in a file, or under the credential's key.
  package static func slot(
    wrapping root: borrowing SecretBytes, of databaseID: [UInt8], in directory: StoreDirectory, _ seal: DeviceSeal
  ) throws(VaultError) -> Slot {
    do {
      let key: SecretBytes
      let device: DeviceSlot
      switch seal {
      case .keyFile:
        key = try Random.key(DeviceKey.count)
        try DeviceKey.write(key, in: directory)
        device = .keyFile
      case .credential(let credential):
        key = credential.deviceKey.bytes.copy()
        device = .credential(id: credential.id)
      case .tpm(let tpm):
        key = try Random.key(DeviceKey.count)
        device = .tpm(try tpm.seal(key))
      }
      return try Slot(.device, wrapping: root, under: key, databaseID: databaseID, parameters: device.parameters)
    } catch {
      throw VaultError(cause: error)
    }
  }
}

extension Credential {
  /// The tag of a credential's id in the parameters of a slot.
  static let tag: UInt8 = 40
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
