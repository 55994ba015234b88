import Glibc
import Keys
package import Primitives
import SecretModel

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

/// The key file: 32 random bytes beside the database, readable by this user alone. The key opens the device slot.
package enum DeviceKey {
  static let count = 32

  static func read(in directory: StoreDirectory) throws(VaultError) -> SecretBytes {
    let descriptor = Glibc.open(directory.deviceKey, O_RDONLY | O_CLOEXEC | O_NOFOLLOW)
    guard descriptor >= 0 else {
      if errno == ENOENT { throw .deviceKeyMissing }
      throw .onFile("cannot open \(directory.deviceKey)")
    }
    defer { Glibc.close(descriptor) }
    let key: SecretBytes
    do {
      key = try SecretBytes.read(from: descriptor, limit: count)
    } catch .tooLong {
      throw .deviceKeyMissing
    } catch {
      throw .inputOutput("cannot read \(directory.deviceKey): \(error)")
    }
    guard key.count == count else { throw .deviceKeyMissing }
    return key
  }

  /// Deletes the key file of a store whose key is in the TPM. If that fails, the file no longer opens anything, and is
  /// deleted when the store is next opened.
  package static func remove(in directory: StoreDirectory) {
    if unlink(directory.deviceKey) == 0 { try? directory.sync() }
  }

  /// Writes the key file. Replaces an old one by a rename, so that there is always a whole file.
  static func write(_ key: borrowing SecretBytes, in directory: StoreDirectory) throws(VaultError) {
    let file: WholeFile
    do throws(WholeFile.Failure) { file = try WholeFile(directory.deviceKey) } catch { throw .onFile(error) }
    do throws(WriteError) {
      try key.write(to: file.descriptor)
    } catch {
      throw .onWriting("cannot write \(directory.deviceKey)", error)
    }
    do throws(WholeFile.Failure) { try file.place() } catch { throw .onFile(error) }
  }
}

/// What the keys of a store's device slot and of its passcode's slot are sealed in.
package enum DeviceSeal: Sendable {
  /// The device slot's key is in a file beside the database, and the passcode's slot has scrypt alone.
  case keyFile
  case credential(Credential)
  /// With the registers that the keys are sealed to.
  case tpm(TPM)

  package var isKeyFile: Bool {
    if case .keyFile = self { true } else { false }
  }

  package var tpm: TPM? {
    if case .tpm(let tpm) = self { tpm } else { nil }
  }

  package var tier: VaultStatus.Tier {
    switch self {
    case .keyFile: .keyFile
    case .credential(let credential): credential.isSealedByTPM ? .credentialOfTPM : .credential
    case .tpm: .tpm
    }
  }
}

/// A secret that systemd gives the service as a credential. The keys of stores' device slots and passcodes' slots are
/// derived from it (docs/decisions/0100).
package struct Credential: Sendable {
  /// How many bytes the secret may have: at least as many as a key.
  package static let lengths = 32...1_024

  /// Identifies the credential in the slots of stores, without revealing anything about the secret.
  let id: [UInt8]
  /// Whether systemd decrypted it with a key of the machine's TPM. If not, or if that is not known, its key is taken to
  /// lie on the same disk.
  let isSealedByTPM: Bool
  /// The key of device slots.
  let deviceKey: SharedSecret
  /// What the keys of passcodes' slots are derived from, beside the passcode.
  let passcodePart: SharedSecret

  /// - Throws: `configuration` for a secret of another length.
  package init(_ secret: borrowing SecretBytes, isSealedByTPM: Bool) throws(VaultError) {
    guard Self.lengths.contains(secret.count) else {
      throw .configuration(
        "it does not have \(Self.lengths.lowerBound) to \(Self.lengths.upperBound) bytes")
    }
    self.isSealedByTPM = isSealedByTPM
    id = Array(MAC.hmacSHA256(key: secret, Array("whorl credential".utf8)).prefix(16))
    do {
      deviceKey = SharedSecret(try KDF.hkdf(key: secret, info: Array("whorl credential for device slots".utf8)))
      passcodePart = SharedSecret(try KDF.hkdf(key: secret, info: Array("whorl credential for passcodes".utf8)))
    } catch {
      throw VaultError(cause: error)
    }
  }
}
