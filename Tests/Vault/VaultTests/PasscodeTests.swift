import Keys
import Primitives
import Synchronization
import Testing
import VaultDriver

@testable import Presence
@testable import Vault
@testable import VaultItems
@testable import VaultStore

@Suite("The passcode and the recovery key")
struct PasscodeTests {
  static let right = ScratchStore.passcode

  @Test("a passcode item is read with the passcode only")
  func passcodeItem() async throws {
    let store = try await ScratchStore()
    let vault = try store.open()
    try await vault.put("bank", "1234", .passcode, by: Person(passcodes: [Self.right]))
    #expect(try await vault.get("bank", by: Person(passcodes: [Self.right])) == "1234")
    await #expect(throws: VaultError.wrongPasscode) {
      try await vault.get("bank", by: Person(passcodes: ["wrong"]))
    }
    await #expect(throws: VaultError.interactionNotAllowed) { try await vault.get("bank") }
  }

  @Test("changing the passcode keeps what was stored under it, and the old one opens nothing any more")
  func change() async throws {
    let store = try await ScratchStore()
    let vault = try store.open()
    try await vault.put("bank", "1234", .passcode, by: Person(passcodes: [Self.right]))
    try await Person(passcodes: [Self.right], newPasscode: "new one").with(vault) {
      try await vault.changePasscode(in: $0)
    }
    #expect(try await vault.get("bank", by: Person(passcodes: ["new one"])) == "1234")
    await #expect(throws: VaultError.wrongPasscode) {
      try await vault.get("bank", by: Person(passcodes: [Self.right]))
    }
  }

  @Test("removing the passcode destroys items that need it or its presence, and lists them")
  func remove() async throws {
    let store = try await ScratchStore()
    let vault = try store.open()
    try await vault.put("bank", "1", .passcode, by: Person(passcodes: [Self.right]))
    try await vault.put("set", "2", .none, accessibility: .passcodeSet)
    try await vault.put("free", "3")
    let lost = try await Person(passcodes: [Self.right]).with(vault) { try await vault.removePasscode(in: $0) }
    #expect(Set(lost.map(\.description)) == ["bank", "set"])
    await #expect(throws: VaultError.itemInvalidated(try ItemName(parsing: "bank"))) { try await vault.get("bank") }
    await #expect(throws: VaultError.itemInvalidated(try ItemName(parsing: "set"))) { try await vault.get("set") }
    #expect(try await vault.get("free") == "3")
    await #expect(throws: VaultError.passcodeNotSet) { try await vault.put("x", "1", accessibility: .passcodeSet) }
    try await vault.put("set", "again")
    #expect(try await vault.get("set") == "again", "a dead item does not stand in the way of a new one")
  }

  @Test("a store without a passcode gets its first one with the recovery key")
  func firstPasscode() async throws {
    let store = try await ScratchStore(passcode: nil)
    let vault = try store.open()
    #expect(try await vault.status().passcodeSet == false)
    await #expect(throws: VaultError.malformedRecoveryKey) {
      try await Person(newPasscode: "the first", recoveryKey: "nonsense").with(vault) {
        try await vault.changePasscode(in: $0)
      }
    }
    let other = try await ScratchStore()
    await #expect(throws: VaultError.wrongRecoveryKey) {
      try await Person(newPasscode: "the first", recoveryKey: other.recoveryKey)
        .with(vault) { try await vault.changePasscode(in: $0) }
    }
    try await Person(newPasscode: "the first", recoveryKey: store.recoveryKey)
      .with(vault) { try await vault.changePasscode(in: $0) }
    try await vault.put("bank", "1", .passcode, by: Person(passcodes: ["the first"]))
    #expect(try await vault.get("bank", by: Person(passcodes: ["the first"])) == "1")
  }

  @Test("the recovery key sets a new passcode, keeps the items of the old one and resets every delay")
  func recover() async throws {
    let store = try await ScratchStore()
    let vault = try store.open()
    try await vault.put("bank", "1", .passcode, by: Person(passcodes: [Self.right]))
    for _ in 1...5 {
      _ = try? await vault.get("bank", by: Person(passcodes: ["wrong"]))
    }
    #expect(try await vault.status().passcodeDelay > 0)
    await #expect(throws: VaultError.self) { try await vault.get("bank", by: Person(passcodes: [Self.right])) }
    _ = try await Person(newPasscode: "found again", recoveryKey: store.recoveryKey)
      .with(vault) { try await vault.recover(in: $0) }
    #expect(try await vault.status().passcodeDelay == 0)
    #expect(try await vault.get("bank", by: Person(passcodes: ["found again"])) == "1")
  }

  @Test("wrong passcodes are counted over all programs, and the delay survives clock changes and restarts")
  func delays() async throws {
    let store = try await ScratchStore()
    let time = Mutex<UInt64>(1_000_000_000_000)
    let boot = Mutex("first boot")
    let clock = BootClock(bootID: { boot.withLock { $0 } }, now: { time.withLock { $0 } })
    for attempt in 1...5 {
      let vault = try store.open(clock: clock)
      await #expect(throws: VaultError.wrongPasscode) {
        try await Person(passcodes: ["wrong \(attempt)"]).with(vault) { try await vault.unlock(in: $0) }
      }
    }
    let vault = try store.open(clock: clock)
    await #expect(throws: VaultError.passcodeDelayed(seconds: 60)) {
      try await Person(passcodes: [Self.right]).with(vault) { try await vault.unlock(in: $0) }
    }
    time.withLock { $0 += 59_000_000_000 }
    #expect(try await vault.status().passcodeDelay == 1)
    // A restart: the clock of the new boot may have any value.
    boot.withLock { $0 = "second boot" }
    time.withLock { $0 = 315_360_000_000_000_000 }
    let later = try store.open(clock: clock)
    await #expect(throws: VaultError.passcodeDelayed(seconds: 60)) {
      try await Person(passcodes: [Self.right]).with(later) { try await later.unlock(in: $0) }
    }
    time.withLock { $0 += 30_000_000_000 }
    #expect(try await later.status().passcodeDelay == 30, "the delay of this boot is running")
    time.withLock { $0 += 30_000_000_000 }
    try await Person(passcodes: [Self.right]).with(later) { try await later.unlock(in: $0) }
    #expect(try await later.status().passcodeDelay == 0)
  }

  @Test("a lost key file is replaced with the recovery key, and with no other")
  func keyFile() async throws {
    let store = try await ScratchStore()
    try await store.open().put("a", "kept")
    let copy = try store.snapshot()
    try store.restore(["device.key"], from: "/nonexistent")
    #expect(throws: VaultError.deviceKeyMissing) { try store.open() }
    let other = try await ScratchStore()
    #expect(throws: VaultError.wrongRecoveryKey) {
      try StoreCreation.rebuildDeviceKey(at: store.path, recoveryKey: SecretBytes(text: other.recoveryKey))
    }
    try StoreCreation.rebuildDeviceKey(at: store.path, recoveryKey: SecretBytes(text: store.recoveryKey))
    #expect(try await store.open().get("a") == "kept")
    try store.restore(["device.key"], from: copy)
    #expect(throws: VaultError.deviceKeyMissing, "the lost key file opens nothing more") { try store.open() }
  }

  @Test("a script that passes the passcode needs no prompt")
  func supplied() async throws {
    let store = try await ScratchStore()
    let vault = try store.open()
    try await vault.put("bank", "1234", .passcode, by: Person(passcodes: [Self.right]))
    try await vault.put("presence", "5678", .presence)
    let options = ContextOptions(interactionNotAllowed: true, preferPasscode: true, passcodeSupplied: true)
    #expect(try await vault.get("bank", options, by: Person(passcodes: [Self.right])) == "1234")
    #expect(try await vault.get("presence", options, by: Person(passcodes: [Self.right])) == "5678")
    await #expect(throws: VaultError.interactionNotAllowed) {
      try await vault.get("bank", ContextOptions(interactionNotAllowed: true), by: Person(passcodes: [Self.right]))
    }
  }

  @Test("a passcode that is removed during another program's prompt leaves nothing stored under its key")
  func removedMeanwhile() async throws {
    let store = try await ScratchStore()
    let vault = try store.open()
    let other = try store.open()
    let (handle, events) = try await vault.openContext()
    let adding = Task {
      try await vault.add(
        NewItem(named: ItemName(parsing: "late"), access: AccessControl(.passcode, applicationPassword: true)),
        secret: SecretBytes(text: "x"), in: handle)
    }
    for await event in events {
      guard case .secretWanted(let request) = event.event else { continue }
      if case .passcode = request {
        await vault.respond(handle, .secret(question: event.number, SecretBytes(text: Self.right)))
      }
      guard case .applicationPassword = request else { continue }
      _ = try await Person(passcodes: [Self.right]).with(other) { try await other.removePasscode(in: $0) }
      await vault.respond(handle, .secret(question: event.number, SecretBytes(text: "password")))
      break
    }
    await #expect(throws: VaultError.self) { try await adding.value }
    #expect(try await other.items(.everything).isEmpty)
  }
}
