import Foundation
import MemorySearch
import Primitives
import SoftwareTPM
import Testing
import VaultStore

@Suite("The TPM, with swtpm")
struct TPMTests {
  private static let words: [UInt8] = Array("thirty-two bytes of a device key".utf8)
  private static let value: [UInt8] = Array("an authorization of this length!".utf8)
  private static let wrong: [UInt8] = Array("another authorization, as long..".utf8)

  private static func secret(_ bytes: [UInt8] = words) -> SecretBytes { SecretBytes(copying: bytes.span) }

  @Test("the TPM opens what it has sealed, also after a power loss")
  func sealing() throws {
    let machine = try SoftwareTPM()
    let object = try machine.tpm.seal(Self.secret())
    let guarded = try machine.tpm.seal(Self.secret(), authorization: Self.secret(Self.value))
    #expect(try machine.open(object) == Self.words)
    machine.powerOff()
    try machine.powerOn()
    #expect(try machine.open(object) == Self.words)
    #expect(try machine.open(guarded, Self.value) == Self.words)
  }

  @Test("the TPM refuses a wrong or missing authorization value, and counts each")
  func wrongAuthorization() throws {
    let machine = try SoftwareTPM()
    try machine.setLockout(limit: 5)
    let object = try machine.tpm.seal(Self.secret(), authorization: Self.secret(Self.value))
    #expect(try machine.tpm.dictionaryLockout(for: object).failures == 0)
    #expect(throws: TPMError.wrongAuthorization) { _ = try machine.open(object, Self.wrong) }
    #expect(throws: TPMError.wrongAuthorization) { _ = try machine.open(object) }
    let lockout = try machine.tpm.dictionaryLockout(for: object)
    #expect(lockout == DictionaryLockout(failures: 2, limit: 5, interval: 1_000, isLockedOut: false))
    #expect(lockout.hasRoom)
  }

  @Test("the TPM is not tried with a value that could lock it, and still opens objects without a value")
  func lockout() throws {
    let machine = try SoftwareTPM()
    try machine.setLockout(limit: 3)
    let open = try machine.tpm.seal(Self.secret())
    let object = try machine.tpm.seal(Self.secret(), authorization: Self.secret(Self.value))
    for _ in 1...2 {
      #expect(throws: TPMError.wrongAuthorization) { _ = try machine.open(object, Self.wrong) }
    }
    #expect(throws: TPMError.lockedOut) { _ = try machine.open(object, Self.wrong) }
    #expect(throws: TPMError.lockedOut) { _ = try machine.open(object, Self.value) }
    let lockout = try machine.tpm.dictionaryLockout(for: object)
    #expect(lockout == DictionaryLockout(failures: 2, limit: 3, interval: 1_000, isLockedOut: false))
    #expect(try machine.open(open) == Self.words)
    try machine.forgetFailures()
    #expect(try machine.open(object, Self.value) == Self.words)
  }

  @Test("a TPM that other programs have locked is reported as locked")
  func lockedByOthers() throws {
    let machine = try SoftwareTPM()
    let object = try machine.tpm.seal(Self.secret(), authorization: Self.secret(Self.value))
    try machine.setLockout(limit: 1)
    #expect(throws: TPMError.lockedOut) { _ = try machine.open(object, Self.value) }
    try machine.setLockout(limit: 5)
    for _ in 1...2 {
      #expect(throws: TPMError.wrongAuthorization) { _ = try machine.open(object, Self.wrong) }
    }
    try machine.setLockout(limit: 2)
    #expect(try machine.tpm.dictionaryLockout(for: object).isLockedOut)
    #expect(throws: TPMError.lockedOut) { _ = try machine.open(object, Self.value) }
  }

  @Test("the TPM opens nothing that another TPM has sealed, or that was sealed before it was cleared")
  func otherTPM() throws {
    let (machine, other) = (try SoftwareTPM(), try SoftwareTPM())
    let object = try machine.tpm.seal(Self.secret())
    #expect(throws: TPMError.changed) { _ = try other.open(object) }
    #expect(throws: TPMError.changed) { _ = try other.tpm.dictionaryLockout(for: object) }
    // It stays closed even if the check of the name is passed.
    let renamed = SealedObject(
      storageKey: try other.tpm.seal(Self.secret()).storageKey, publicPart: object.publicPart,
      privatePart: object.privatePart)
    #expect(throws: TPMError.self) { _ = try other.open(renamed) }
    try machine.clear()
    #expect(throws: TPMError.changed) { _ = try machine.open(object) }
    let new = try machine.tpm.seal(Self.secret())
    #expect(try machine.open(new) == Self.words)
  }

  @Test("objects sealed to TPM registers open only while those are unchanged, with and without authorization")
  func registers() throws {
    let machine = try SoftwareTPM()
    let bound = machine.tpm.sealing(to: try #require(PlatformRegisters([7, 4])))
    let object = try bound.seal(Self.secret())
    let guarded = try bound.seal(Self.secret(), authorization: Self.secret(Self.value))
    #expect(object.registers.numbers == [4, 7])
    // The selection of registers is stored in the object, not in the value of the machine.
    #expect(try machine.open(object) == Self.words)
    #expect(try machine.open(guarded, Self.value) == Self.words)
    #expect(throws: TPMError.wrongAuthorization) { _ = try machine.open(guarded, Self.wrong) }
    try machine.extend(register: 5)
    #expect(try machine.open(object) == Self.words)
    try machine.extend(register: 7)
    #expect(throws: TPMError.registersChanged) { _ = try machine.open(object) }
    #expect(throws: TPMError.registersChanged) { _ = try machine.open(guarded, Self.value) }
    // Nor does it open as one that is sealed to no register.
    let without = SealedObject(
      storageKey: object.storageKey, publicPart: object.publicPart, privatePart: object.privatePart)
    #expect(throws: TPMError.registersChanged) { _ = try machine.open(without) }
    machine.powerOff()
    try machine.powerOn()
    #expect(try machine.open(object) == Self.words, "the registers begin anew")
    #expect(PlatformRegisters([16]) == nil, "others can be reset without a restart")
  }

  @Test("a TPM that is missing, has an owner password or gets a damaged object is reported")
  func refusals() throws {
    #expect(throws: TPMError.absent("/nonexistent/tpmrm0 cannot be opened")) {
      _ = try TPM(.device("/nonexistent/tpmrm0")).seal(Self.secret())
    }
    let machine = try SoftwareTPM()
    let object = try machine.tpm.seal(Self.secret())
    let cut = SealedObject(
      storageKey: object.storageKey, publicPart: object.publicPart, privatePart: Array(object.privatePart.dropLast()))
    #expect(throws: TPMError.refused("a sealed object is damaged")) { _ = try machine.open(cut) }
    var edited = object.privatePart
    edited[edited.count / 2] ^= 1
    let damaged = SealedObject(
      storageKey: object.storageKey, publicPart: object.publicPart, privatePart: edited)
    #expect(throws: TPMError.self) { _ = try machine.open(damaged) }
    #expect(throws: TPMError.refused("a secret is too long")) {
      _ = try machine.tpm.seal(SecretBytes(count: 300))
    }
    try machine.setOwnerPassword("owner")
    #expect(throws: TPMError.ownerPassword) { _ = try machine.open(object) }
    machine.powerOff()
    #expect(throws: TPMError.absent("\(machine.place.path) cannot be opened")) {
      _ = try machine.open(object)
    }
  }

  // swtpm logs every command and answer in hexadecimal digits.
  @Test("secrets and authorization values are not visible on the TPM's bus")
  func wire() throws {
    let machine = try SoftwareTPM()
    let object = try machine.tpm.seal(Self.secret(), authorization: Self.secret(Self.value))
    #expect(try machine.open(object, Self.value) == Self.words)
    #expect(throws: TPMError.wrongAuthorization) {
      _ = try machine.open(object, Self.wrong)
    }
    machine.powerOff()
    let digits = try String(contentsOfFile: machine.log, encoding: .utf8).filter { !$0.isWhitespace }.lowercased()
    func isLogged(_ bytes: [UInt8]) -> Bool {
      digits.contains(bytes.map { String(format: "%02x", $0) }.joined())
    }
    #expect(isLogged(Array(object.privatePart.dropFirst(2))), "the log shows what is sent")
    for secret in [Self.words, Self.value, Self.wrong] {
      #expect(!isLogged(Array(secret.prefix(16))))
      #expect(!isLogged(Array(secret.suffix(16))))
    }
  }

  @Test("the TPM library keeps no copy of an opened secret")
  func memory() throws {
    let machine = try SoftwareTPM()
    var random = SystemRandomNumberGenerator()
    var secret = SecretBytes(count: 32)
    secret.withUnsafeMutableBytes { for index in $0.indices { $0[index] = UInt8.random(in: 1...255, using: &random) } }
    let object = try machine.tpm.seal(secret)
    let opened = try machine.tpm.unseal(object)
    let isSame = opened.constantTimeEquals(secret)
    #expect(isSame)
    #expect(MemoryScan(for: secret).occurrences() == 2)
  }
}

extension SoftwareTPM {
  /// The bytes of a sealed object.
  fileprivate func open(_ object: SealedObject, _ authorization: [UInt8]) throws -> [UInt8] {
    try tpm.unseal(object, authorization: SecretBytes(copying: authorization.span)).withUnsafeBytes { Array($0) }
  }

  fileprivate func open(_ object: SealedObject) throws -> [UInt8] {
    try tpm.unseal(object).withUnsafeBytes { Array($0) }
  }
}
