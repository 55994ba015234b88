import Primitives
import Synchronization
import Testing
import VaultDriver

@testable import Presence
@testable import Vault
@testable import VaultItems
@testable import VaultStore

@Suite("Guesses at an application password")
struct ApplicationPasswordTests {
  private let clock = BootClock(bootID: { "boot" }, now: { 1_000_000_000_000 })

  private func put(_ name: String, _ constraint: AccessControl.Constraint = .none, in vault: Vault) async throws {
    _ = try await Person(applicationPassword: "open sesame").with(vault) { handle in
      try await vault.add(
        NewItem(named: ItemName(parsing: name), access: AccessControl(constraint, applicationPassword: true)),
        secret: SecretBytes(text: "treasure"), replacing: true, in: handle)
    }
  }

  private func guess(_ name: String, _ vault: Vault, with password: String = "open barley") async throws -> String {
    try await vault.get(name, by: Person(applicationPassword: password))
  }

  private func guessWrong(_ times: Int, _ name: String, _ vault: Vault) async throws {
    for _ in 1...times {
      await #expect(throws: VaultError.wrongApplicationPassword) { try await guess(name, vault) }
    }
  }

  @Test("an item waits in all programs after five wrong application passwords, and the right one resets the count")
  func delay() async throws {
    let store = try await ScratchStore()
    let time = Mutex<UInt64>(1_000_000_000_000)
    let clock = BootClock(bootID: { "boot" }, now: { time.withLock { $0 } })
    let vault = try store.open(clock: clock)
    try await put("app", in: vault)
    try await guessWrong(4, "app", vault)
    #expect(try await guess("app", vault, with: "open sesame") == "treasure")
    try await guessWrong(5, "app", vault)
    let other = try store.open(clock: clock)
    await #expect(throws: VaultError.applicationPasswordDelayed(seconds: 60)) {
      try await guess("app", other, with: "open sesame")
    }
    time.withLock { $0 += 60_000_000_000 }
    try await guessWrong(1, "app", vault)
    await #expect(throws: VaultError.applicationPasswordDelayed(seconds: 300)) {
      try await guess("app", vault, with: "open sesame")
    }
    time.withLock { $0 += 300_000_000_000 }
    #expect(try await guess("app", vault, with: "open sesame") == "treasure")
    try await guessWrong(4, "app", vault)
  }

  @Test("each item counts its own wrong application passwords, and another item's right one does not reset them")
  func byItem() async throws {
    let store = try await ScratchStore()
    let vault = try store.open(clock: clock)
    try await put("mine", in: vault)
    try await put("yours", in: vault)
    for _ in 1...5 {
      try await guessWrong(1, "yours", vault)
      #expect(try await guess("mine", vault, with: "open sesame") == "treasure")
    }
    await #expect(throws: VaultError.applicationPasswordDelayed(seconds: 60)) { try await guess("yours", vault) }
    try await vault.put("bank", "1", .passcode, by: Person(passcodes: [ScratchStore.passcode]))
    #expect(try await vault.get("bank", by: Person(passcodes: [ScratchStore.passcode])) == "1")
    #expect(try await vault.status().passcodeDelay == 0, "the passcode has a count of its own")
    await #expect(throws: VaultError.applicationPasswordDelayed(seconds: 60), "and clears no other") {
      try await guess("yours", vault)
    }
    try await put("yours", in: vault)
    #expect(
      try await guess("yours", vault, with: "open sesame") == "treasure", "another password starts with no guesses")
  }

  @Test("an application password is not tried before the item's other factors are satisfied")
  func afterTheGate() async throws {
    let store = try await ScratchStore()
    let vault = try store.open(clock: clock)
    try await put("both", .passcode, in: vault)
    for _ in 1...6 {
      await #expect(throws: VaultError.interactionNotAllowed) { try await guess("both", vault, with: "open sesame") }
    }
    let person = Person(passcodes: [ScratchStore.passcode], applicationPassword: "open sesame")
    #expect(try await vault.get("both", by: person) == "treasure")
  }

  @Test("an application password is not tried while wrong ones are counted for 256 other items that still exist")
  func room() async throws {
    let store = try await ScratchStore()
    let vault = try store.open(clock: clock)
    try await put("app", in: vault)
    try await put("other", in: vault)
    try await guessWrong(1, "other", vault)
    try await vault.fillPasswordCounts(living: false)
    try await guessWrong(1, "app", vault)
    try await vault.fillPasswordCounts(living: true)
    try await put("third", in: vault)
    await #expect(throws: VaultError.busy("wrong passwords were given for 256 other items: remove those")) {
      try await guess("third", vault, with: "open sesame")
    }
    #expect(try await guess("app", vault, with: "open sesame") == "treasure")
    #expect(try await guess("third", vault, with: "open sesame") == "treasure", "there is room for one again")
  }

  @Test("wrong passcodes delay the passcode but not the recovery key")
  func recoveryKey() async throws {
    let store = try await ScratchStore()
    let vault = try store.open(clock: clock)
    for attempt in 1...5 {
      await #expect(throws: VaultError.wrongPasscode) {
        try await Person(passcodes: ["wrong \(attempt)"]).with(vault) { try await vault.unlock(in: $0) }
      }
    }
    await #expect(throws: VaultError.passcodeDelayed(seconds: 60)) {
      try await Person(passcodes: [ScratchStore.passcode]).with(vault) { try await vault.unlock(in: $0) }
    }
    _ = try await Person(newPasscode: "another", recoveryKey: store.recoveryKey).with(vault) {
      try await vault.recover(in: $0)
    }
    try await Person(passcodes: ["another"]).with(vault) { try await vault.unlock(in: $0) }
  }
}

extension Vault {
  /// Counts a wrong password for the largest number of items, which may exist or not.
  fileprivate func fillPasswordCounts(living: Bool) throws {
    let store = store
    if living {
      for number in 0..<Authority.passwordLimit
      where try store.read({ $0.authority.passwords.count }) < Authority.passwordLimit {
        let item = NewItem(named: try ItemName(parsing: "filler/\(number)"), access: .none)
        let record = ItemRecord(itemClass: item.itemClass, attributes: item.attributes, created: 0, modified: 0)
        try store.commit { change in
          let added = try ItemWriter(change).insert(
            record, ItemProtection(access: .none, accessibility: .whenUnlocked), secret: SecretBytes(text: "x"),
            replacing: false)
          try change.charge(.applicationPassword(item: added.id.bytes))
        }
      }
    } else {
      try store.commit { change in
        while change.authority.passwords.count < Authority.passwordLimit {
          try change.charge(.applicationPassword(item: randomID()))
        }
      }
    }
  }
}
