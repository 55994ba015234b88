import Keys
import SecretModel
import SecureMemory
import Testing
import VaultDriver

@testable import Vault

@Suite("Sealed copies")
struct SealedCopyTests {
  private func opened(_ copy: SealedCopy, _ opening: consuming SealedCopy.Opening) async throws -> String {
    try await Vault.openCopy(copy, with: opening, user: 0, floor: .weakForTests).text
  }

  private func sealed(_ store: ScratchStore, under keys: SealedCopy.Keys = .passcodeAndRecoveryKey) async throws
    -> SealedCopy
  {
    try await VaultSession(of: try store.open()).sealCopy(of: SecretBytes(text: "s3cret"), under: keys)
  }

  @Test("a copy opens with the passcode and with the recovery key, and with nothing else")
  func ways() async throws {
    let store = try await ScratchStore()
    let copy = try #require(SealedCopy(try await sealed(store).bytes))
    #expect(try await opened(copy, .passcode(SecretBytes(text: ScratchStore.passcode))) == "s3cret")
    #expect(try await opened(copy, .recoveryKey(SecretBytes(text: store.recoveryKey))) == "s3cret")
    await #expect(throws: VaultError.wrongPasscode) { try await opened(copy, .passcode(SecretBytes(text: "wrong"))) }
    let other = try await ScratchStore().recoveryKey
    await #expect(throws: VaultError.wrongRecoveryKey) {
      try await opened(copy, .recoveryKey(SecretBytes(text: other)))
    }
    await #expect(throws: VaultError.malformedRecoveryKey) {
      try await opened(copy, .recoveryKey(SecretBytes(text: "x")))
    }
  }

  @Test("one sealed under the recovery key alone, or in a store without a passcode, has nothing to guess in it")
  func recoveryKeyAlone() async throws {
    let without = try await ScratchStore(passcode: nil)
    let with = try await ScratchStore()
    for (store, copy) in [(without, try await sealed(without)), (with, try await sealed(with, under: .recoveryKey))] {
      await #expect(throws: VaultError.passcodeNotSet) {
        try await opened(copy, .passcode(SecretBytes(text: ScratchStore.passcode)))
      }
      #expect(try await opened(copy, .recoveryKey(SecretBytes(text: store.recoveryKey))) == "s3cret")
    }
  }

  @Test("sealing asks nobody, also before the first unlock, and the head changes with the passcode alone")
  func heads() async throws {
    let store = try await ScratchStore()
    let vault = try store.open()
    let session = VaultSession(of: vault)
    let first = try await session.sealCopy(of: SecretBytes(text: "a"), under: .passcodeAndRecoveryKey)
    let second = try await session.sealCopy(of: SecretBytes(text: "a"), under: .passcodeAndRecoveryKey)
    #expect(first.head == second.head)
    #expect(first.boxes != second.boxes)
    _ = try await Person(passcodes: [ScratchStore.passcode], newPasscode: "another one").with(vault) {
      try await vault.changePasscode(in: $0)
    }
    let third = try await session.sealCopy(of: SecretBytes(text: "a"), under: .passcodeAndRecoveryKey)
    #expect(third.head != first.head)
    #expect(try await opened(third, .passcode(SecretBytes(text: "another one"))) == "a")
    let closed = try await ScratchStore(classKeys: ClassKeys(firstUnlock: .passcode))
    let locked = VaultSession(of: try closed.open(classKeys: ClassKeys(firstUnlock: .passcode)))
    _ = try await locked.sealCopy(of: SecretBytes(text: "a"), under: .passcodeAndRecoveryKey)
  }

  @Test("a changed byte is noticed by whoever opens what it belongs to")
  func tampering() async throws {
    let store = try await ScratchStore()
    let bytes = try await sealed(store).bytes
    for index in bytes.indices {
      var changed = bytes
      changed[index] ^= 1
      guard let copy = SealedCopy(changed) else { continue }
      await #expect(throws: VaultError.self, "byte \(index)") {
        _ = try await opened(copy, .passcode(SecretBytes(text: ScratchStore.passcode)))
        _ = try await opened(copy, .recoveryKey(SecretBytes(text: store.recoveryKey)))
      }
    }
  }

  @Test("what is cut off or extended is no copy")
  func lengths() async throws {
    let store = try await ScratchStore()
    let bytes = try await sealed(store).bytes
    for count in stride(from: 0, to: bytes.count, by: 7) {
      guard let copy = SealedCopy(Array(bytes.prefix(count))) else { continue }
      await #expect(throws: VaultError.self) {
        try await opened(copy, .recoveryKey(SecretBytes(text: store.recoveryKey)))
      }
    }
    let longer = try #require(SealedCopy(bytes + [0]))
    await #expect(throws: VaultError.self) {
      try await opened(longer, .recoveryKey(SecretBytes(text: store.recoveryKey)))
    }
    #expect(SealedCopy([UInt8](repeating: 0, count: 100)) == nil)
    #expect(SealedCopy(bytes + [UInt8](repeating: 0, count: SealedCopy.limit)) == nil)
  }

  @Test("scrypt parameters that were put into a copy neither weaken it nor exhaust the machine")
  func parameters() async throws {
    let store = try await ScratchStore()
    let copy = try await sealed(store)
    // The copy of a test store has a lower scrypt cost than the floor of a real one.
    await #expect(throws: VaultError.self) {
      _ = try await Vault.openCopy(copy, with: .passcode(SecretBytes(text: ScratchStore.passcode)), user: 0)
    }
  }

  @Test("a secret that is too long is refused")
  func tooLong() async throws {
    let session = VaultSession(of: try await ScratchStore().open())
    await #expect(throws: VaultError.secretTooLong(limit: 4096)) {
      try await session.sealCopy(of: SecretBytes(count: 4097), under: .recoveryKey)
    }
  }
}
