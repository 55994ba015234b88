import Keys
import Primitives
import SecretModel
import Testing
import VaultDriver

@testable import Presence
@testable import Vault
@testable import VaultItems
@testable import VaultStore

@Suite("Sealed copies of a secret")
struct SealedCopyTests {
  private func opened(_ copy: SealedCopy, _ opening: consuming SealedCopy.Opening) async throws -> String {
    try await copy.open(with: opening, user: 0, floor: .weakForTests).text
  }

  private func sealed(_ store: ScratchStore, under keys: SealedCopy.Keys = .passcodeAndRecoveryKey) async throws
    -> SealedCopy
  {
    try await sealed(by: VaultSession(of: try store.open()), under: keys)
  }

  /// A copy that is sealed with this passcode.
  private func sealed(
    by session: VaultSession, under keys: SealedCopy.Keys = .passcodeAndRecoveryKey, replacing old: SealedCopy? = nil,
    passcode: String = ScratchStore.passcode
  ) async throws -> SealedCopy {
    try await Person(passcodes: [passcode]).with(session) {
      try await session.sealCopy(of: SecretBytes(text: "s3cret"), under: keys, replacing: old, Asking(in: $0))
    }
  }

  @Test("a sealed copy opens with the passcode and with the recovery key, and with nothing else")
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

  @Test("a program without the passcode gets no sealed copy to try passcodes on")
  func withoutPasscode() async throws {
    let store = try await ScratchStore()
    let vault = try store.open()
    let session = VaultSession(of: vault)
    let old = try await sealed(by: session, under: .recoveryKey)
    for old in [nil, old] {
      await #expect(throws: VaultError.interactionNotAllowed) {
        try await session.sealCopy(
          of: SecretBytes(text: "a"), under: .passcodeAndRecoveryKey, replacing: old, .nobody)
      }
    }
    await #expect(throws: VaultError.wrongPasscode) { try await sealed(by: session, passcode: "wrong") }
    let slot = try #require(try StoreDatabase(at: store.path + "/vault.db").rawSlot(.passcode))
    #expect(!holds(old.bytes, slot.box) && !holds(old.bytes, slot.parameters))
    let withPasscode = try await sealed(by: session)
    #expect(holds(withPasscode.bytes, slot.box), "this is what passcodes can be tried on")
  }

  private func holds(_ bytes: [UInt8], _ part: [UInt8]) -> Bool {
    bytes.count >= part.count
      && (0...(bytes.count - part.count)).contains { Array(bytes[$0..<$0 + part.count]) == part }
  }

  @Test("wrong passcodes for sealing a copy of a secret are counted like others, and delay the next try")
  func counted() async throws {
    let store = try await ScratchStore()
    let session = VaultSession(of: try store.open())
    for number in 1...5 {
      await #expect(throws: VaultError.wrongPasscode) { try await sealed(by: session, passcode: "wrong \(number)") }
    }
    #expect(try await session.status().passcodeDelay > 0)
    await #expect { try await sealed(by: session) } throws: {
      if case .passcodeDelayed = $0 as? VaultError { true } else { false }
    }
    withExtendedLifetime(store) {}
  }

  @Test("a sealed copy for the recovery key only, or of a store without a passcode, opens with no passcode")
  func recoveryKeyAlone() async throws {
    let without = try await ScratchStore(passcode: nil)
    let with = try await ScratchStore()
    for (store, keys) in [(without, SealedCopy.Keys.passcodeAndRecoveryKey), (with, .recoveryKey)] {
      let copy = try await VaultSession(of: try store.open())
        .sealCopy(of: SecretBytes(text: "s3cret"), under: keys, replacing: nil, .nobody)
      #expect(copy.keys == .recoveryKey)
      await #expect(throws: VaultError.passcodeNotSet) {
        try await opened(copy, .passcode(SecretBytes(text: ScratchStore.passcode)))
      }
      #expect(try await opened(copy, .recoveryKey(SecretBytes(text: store.recoveryKey))) == "s3cret")
    }
  }

  @Test(
    "a sealed copy under current keys is reused without a prompt, and one under an earlier passcode is not")
  func renewal() async throws {
    let store = try await ScratchStore()
    let vault = try store.open()
    let session = VaultSession(of: vault)
    func renewed(_ old: SealedCopy) async throws -> SealedCopy {
      try await session.sealCopy(of: SecretBytes(text: "other"), under: old.keys, replacing: old, .nobody)
    }
    let both = try await sealed(by: session)
    let alone = try await sealed(by: session, under: .recoveryKey)
    #expect(try await renewed(both) == both)
    #expect(try await renewed(alone) == alone)
    _ = try await Person(passcodes: [ScratchStore.passcode], newPasscode: "another one").with(vault) {
      try await vault.changePasscode(in: $0)
    }
    #expect(try await renewed(alone) == alone)
    await #expect(throws: VaultError.interactionNotAllowed) { try await renewed(both) }
    let second = try await sealed(by: session, replacing: both, passcode: "another one")
    #expect(second.head != both.head)
    #expect(try await opened(second, .passcode(SecretBytes(text: "another one"))) == "s3cret")
  }

  @Test("sealing a copy for the recovery key needs no prompt, also before the store's first unlock")
  func beforeUnlock() async throws {
    let closed = try await ScratchStore(classKeys: ClassKeys(firstUnlock: .passcode))
    let locked = VaultSession(of: try closed.open(classKeys: ClassKeys(firstUnlock: .passcode)))
    _ = try await locked.sealCopy(of: SecretBytes(text: "a"), under: .recoveryKey, replacing: nil, .nobody)
  }

  @Test("a changed byte of a sealed copy keeps each key from opening it that the byte belongs to")
  func tampering() async throws {
    let store = try await ScratchStore()
    let original = try await sealed(store)
    let bytes = original.bytes
    var boxes = CanonicalDecoder(original.boxes)
    let recovery = try boxes.bytes(1)
    let share = try boxes.bytes(2)
    let passcode = try boxes.bytes(3)
    // Each box follows its tag and its length.
    let end = bytes.count - original.boxes.count + 5 + recovery.count
    var refused = (passcode: 0, recoveryKey: 0)
    for index in bytes.indices {
      var changed = bytes
      changed[index] ^= 1
      guard let copy = SealedCopy(changed) else { continue }
      let byPasscode = try? await opened(copy, .passcode(SecretBytes(text: ScratchStore.passcode)))
      let byRecoveryKey = try? await opened(copy, .recoveryKey(SecretBytes(text: store.recoveryKey)))
      if index < end { #expect(byRecoveryKey == nil, "byte \(index)") }
      if index < end - recovery.count || index >= end { #expect(byPasscode == nil, "byte \(index)") }
      if byPasscode == nil { refused.passcode += 1 }
      if byRecoveryKey == nil { refused.recoveryKey += 1 }
    }
    #expect(refused.passcode > share.count + passcode.count && refused.recoveryKey > recovery.count)
  }

  @Test("truncated and extended sealed copies are refused")
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

  @Test("a sealed copy whose scrypt cost is below the floor or above the limit is refused before scrypt runs")
  func parameters() async throws {
    let store = try await ScratchStore()
    let copy = try await sealed(store)
    // The copy of a test store has a lower scrypt cost than the floor of a real one.
    await #expect(throws: VaultError.self) {
      _ = try await copy.open(with: .passcode(SecretBytes(text: ScratchStore.passcode)), user: 0)
    }
    for (cost, problem) in [(3, "scrypt parameters are too weak"), (40, "scrypt parameters ask for too much")] {
      let edited = try copy.with(cost: cost)
      await #expect(throws: VaultError.storeDamaged(problem)) {
        try await opened(edited, .passcode(SecretBytes(text: ScratchStore.passcode)))
      }
    }
  }

  @Test("a secret that is too long for a sealed copy is refused")
  func tooLong() async throws {
    let session = VaultSession(of: try await ScratchStore().open())
    await #expect(throws: VaultError.secretTooLong(limit: 4096)) {
      try await session.sealCopy(of: SecretBytes(count: 4097), under: .recoveryKey, replacing: nil, .nobody)
    }
  }
}

extension SealedCopy {
  /// The copy with another cost of scrypt in the parameters of its passcode.
  fileprivate func with(cost: Int) throws -> SealedCopy {
    var old = CanonicalDecoder(head)
    var new = CanonicalEncoding()
    try new.append(tag: 1, old.number(1))
    try new.append(tag: 2, old.bytes(2))
    try new.append(tag: 3, old.bytes(3))
    var parameters = try Scrypt.Parameters(encoded: old.bytes(4))
    parameters.logN = cost
    new.append(tag: 4, parameters.encoded)
    try new.append(tag: 5, old.bytes(5))
    return SealedCopy(under: keys, head: new.bytes, boxes: boxes)
  }
}
