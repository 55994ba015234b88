import Keys
import Primitives
import Testing

@testable import Vault
@testable import VaultStore

/// Values that only a forged store or backup can have.
@Suite("Forged rows are refused before their keys are used")
struct ForgedRowTests {
  private var credential: [UInt8] {
    var record = CanonicalEncoding()
    record.append(tag: Credential.tag, [1, 2, 3])
    return record.bytes
  }

  @Test("bytes after the parameters of the device slot make the store damaged")
  func longDeviceSlot() throws {
    _ = try DeviceSlot(parameters: credential)
    #expect(throws: VaultError.storeDamaged("the parameters of the device slot are too long")) {
      try DeviceSlot(parameters: credential + credential)
    }
  }

  @Test("bytes after the parameters of the passcode make the store damaged")
  func longPasscodeSlot() throws {
    let parameters = try Scrypt.Parameters.fresh().encoded + credential
    _ = try PasscodeLock(parameters: parameters)
    #expect(throws: VaultError.storeDamaged("the parameters of the passcode are too long")) {
      try PasscodeLock(parameters: parameters + credential)
    }
  }

  @Test("an item of the highest revision is damaged and gets no revision after it")
  func highestRevision() throws {
    var row = ItemRow(id: [1], owner: 1, nameIndex: [2], access: .none, accessibility: .whenUnlocked, derivation: nil)
    row.revision = .max - 1
    #expect(try row.nextRevision == .max)
    row.revision = .max
    #expect(throws: VaultError.itemDamaged(nil)) { try row.nextRevision }
  }
}
