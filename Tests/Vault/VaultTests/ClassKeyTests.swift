import Primitives
import SecretModel
import Synchronization
import Testing
import VaultDriver

@testable import Presence
@testable import Vault
@testable import VaultItems
@testable import VaultStore

@Suite("The classes of items")
struct ClassKeyTests {
  private static let hour: UInt64 = 3_600 * 1_000_000_000
  private let right = ScratchStore.passcode
  private let classes: [(name: String, accessibility: Accessibility)] = [
    ("session", .whenUnlocked), ("boot", .afterFirstUnlock), ("set", .passcodeSet),
  ]

  /// A store whose first unlock requires the passcode.
  private let store: ScratchStore

  init() async throws { store = try await ScratchStore(classKeys: ClassKeys(firstUnlock: .passcode)) }

  /// A vault that was just started, with an item of each class.
  private func started(
    _ gate: any SessionGate = NoSessionGate(), _ clock: BootClock = .system, _ keys: ClassKeys = ClassKeys()
  ) async throws -> Vault {
    let vault = try store.open(clock: clock, gate: gate)
    try await unlock(vault)
    for (name, accessibility) in classes { try await vault.put(name, name, accessibility: accessibility) }
    await vault.close()
    return try store.open(clock: clock, gate: gate, classKeys: keys)
  }

  private func unlock(_ vault: Vault, _ passcode: String = ScratchStore.passcode) async throws {
    try await Person(passcodes: [passcode]).with(vault) { try await vault.unlock(in: $0) }
  }

  private func open(_ vault: Vault) async throws -> [Accessibility] {
    var open: [Accessibility] = []
    for (name, accessibility) in classes {
      let secret: String
      do {
        secret = try await vault.get(name)
      } catch VaultError.notUnlocked(accessibility) {
        continue
      }
      #expect(secret == name)
      open.append(accessibility)
    }
    let shown = try await vault.status().openClasses
    #expect(Set(shown) == Set(open))
    return open
  }

  @Test("items of all classes are closed until the first unlock in a store that requires the passcode for that")
  func closedFromTheStart() async throws {
    let vault = try await started()
    #expect(try await open(vault) == [])
    let status = try await vault.status()
    #expect(status.firstUnlock == .passcode && status.passcodeDeadline == nil)
    await #expect(throws: VaultError.notUnlocked(.afterFirstUnlock)) {
      try await vault.put("new", "x", accessibility: .afterFirstUnlock)
    }
    #expect(try await vault.items(.everything).count == 3, "what there is can be listed")
    try await unlock(vault)
    #expect(try await open(vault) == [.whenUnlocked, .afterFirstUnlock, .passcodeSet])
    let deadline = try #require(try await vault.status().passcodeDeadline)
    #expect(deadline > 47 * 3_600)
  }

  @Test("class keys do not open from the disk alone if the store requires the passcode after a start")
  func wrapping() async throws {
    let vault = try await started()
    #expect(try await vault.rootKeyOpensClasses() == 0)
    let plain = try await ScratchStore()
    #expect(try await plain.open().rootKeyOpensClasses() == 3)
  }

  @Test("the passcode, given for an item that only it opens, opens all item classes, and a wrong one opens none")
  func anyPasscode() async throws {
    let vault = try await started()
    try await unlock(vault)
    try await vault.put("bank", "1234", .passcode, by: Person(passcodes: [right]))
    try await vault.put("either", "5678", .presence, by: Person(passcodes: [right]))
    let later = try store.open()
    let options = ContextOptions(timeout: .seconds(20), preferPasscode: true)
    await #expect(throws: VaultError.notUnlocked(.whenUnlocked)) {
      try await later.get("either", options, by: Person(passcodes: [right]))
    }
    await #expect(throws: VaultError.wrongPasscode) {
      try await later.get("bank", by: Person(passcodes: ["wrong", "wrong", "wrong"]))
    }
    #expect(try await open(later) == [])
    #expect(try await later.get("bank", by: Person(passcodes: [right])) == "1234")
    #expect(try await open(later).count == 3)
    #expect(try await later.get("either", options, by: Person(passcodes: [right])) == "5678")
  }

  @Test("locking a store closes its item classes, and its contexts ask for the passcode again")
  func lock() async throws {
    let vault = try await started()
    try await unlock(vault)
    try await vault.put("bank", "1234", .passcode, by: Person(passcodes: [right]))
    let person = Person(passcodes: [right, right])
    try await person.with(vault, .keepingEvidence(.never)) { handle in
      #expect(try await vault.read([ItemName(parsing: "bank")], reason: nil, in: handle)[0].text == "1234")
      try await vault.lock()
      #expect(try await open(vault) == [])
      #expect(try await vault.read([ItemName(parsing: "bank")], reason: nil, in: handle)[0].text == "1234")
    }
    let asked = person.events.filter { if case .secretWanted(.passcode) = $0 { true } else { false } }
    #expect(asked.count == 2, "the passcode was given again")
    let plain = try await ScratchStore()
    await #expect(throws: VaultError.self, "a store that is open from the start has nothing to lock") {
      try await plain.open().lock()
    }
  }

  @Test("items of when-unlocked follow the session's lock, and those of after-first-unlock do not")
  func sessions() async throws {
    let sessions = Sessions()
    let vault = try await started(sessions)
    try await unlock(vault)
    sessions.unlocked.withLock { $0 = false }
    await vault.sessionsLocked()
    #expect(try await open(vault) == [.afterFirstUnlock])
    await #expect(throws: VaultError.notUnlocked(.whenUnlocked)) { try await vault.put("new", "x") }
    sessions.unlocked.withLock { $0 = true }
    #expect(try await open(vault).count == 3)
    // The lock was not signalled: the check before the release finds it.
    sessions.unlocked.withLock { $0 = false }
    #expect(try await open(vault) == [.afterFirstUnlock])
  }

  @Test("passkeys follow the session's lock, even if it was not signalled")
  func passkeys() async throws {
    let sessions = Sessions()
    let vault = try store.open(gate: sessions)
    try await unlock(vault)
    let hash = [UInt8](repeating: 7, count: 32)
    let new = NewPasskey(
      relyingParty: "example.com", user: Passkey.User(handle: [1], name: "alice", displayName: ""),
      algorithm: .ed25519, isDiscoverable: true, clientDataHash: hash, access: AccessControl(.presence))
    func made() async throws -> Passkey {
      try await Person(passcodes: [right]).with(vault) { try await vault.makePasskey(new, in: $0).0 }
    }
    sessions.unlocked.withLock { $0 = false }
    await #expect(throws: VaultError.notUnlocked(.whenUnlocked)) { try await made() }
    sessions.unlocked.withLock { $0 = true }
    let passkey = try await made()
    sessions.unlocked.withLock { $0 = false }
    await #expect(throws: VaultError.notUnlocked(.whenUnlocked)) {
      try await Person(passcodes: [right]).with(vault) {
        try await vault.assertPasskey(passkey.id, PasskeyAssertion(clientDataHash: hash), in: $0)
      }
    }
  }

  @Test("a session lock wins over an unlocked state that was read before it")
  func lateLook() {
    let keys = ClassKeys()
    let before = keys.locks
    keys.sessionsLocked()
    keys.note(sessionsUnlocked: true, asOf: before)
    #expect(keys.sessionsAreLocked)
    keys.note(sessionsUnlocked: true, asOf: keys.locks)
    #expect(!keys.sessionsAreLocked)
  }

  @Test("a session lock between the prompt and the release of an item cancels the release")
  func lockedMeanwhile() async throws {
    let sessions = Sessions()
    let vault = try await started(sessions)
    try await unlock(vault)
    try await vault.put("bank", "1234", .passcode, by: Person(passcodes: [right]))
    let (handle, events) = try await vault.openContext()
    let reading = Task { try await vault.read([ItemName(parsing: "bank")], reason: nil, in: handle)[0].text }
    for await event in events {
      guard case .secretWanted = event.event else { continue }
      await vault.sessionsLocked()
      await vault.respond(handle, .secret(question: event.number, SecretBytes(text: right)))
      break
    }
    await #expect(throws: VaultError.notUnlocked(.whenUnlocked)) { try await reading.value }
  }

  @Test("the passcode is required again after 48 hours without an unlock, or 156 without the passcode")
  func deadlines() async throws {
    let time = Mutex<UInt64>(1_000 * Self.hour)
    let clock = BootClock(bootID: { "boot" }, now: { time.withLock { $0 } })
    let keys = ClassKeys()
    let vault = try await started(NoSessionGate(), clock, keys)
    try await unlock(vault)
    time.withLock { $0 += 48 * Self.hour - 1 }
    #expect(try await open(vault).count == 3)
    time.withLock { $0 += 1 }
    #expect(try await open(vault) == [])
    try await unlock(vault)
    for _ in 1...3 {
      time.withLock { $0 += 47 * Self.hour }
      keys.noteFinger(clock)
    }
    #expect(try await vault.status().passcodeDeadline == 15 * 3_600)
    #expect(try await open(vault).count == 3)
    time.withLock { $0 += 15 * Self.hour }
    keys.noteFinger(clock)
    #expect(try await open(vault) == [], "fingers alone do not keep it open")
  }

  @Test("unlocked item classes stay open if the vault is closed and opened again with the same class keys")
  func kept() async throws {
    let keys = ClassKeys(firstUnlock: .passcode)
    let store = try await ScratchStore(classKeys: keys)
    let vault = try store.open(classKeys: keys)
    try await vault.put("a", "1")
    await vault.close()
    #expect(try await store.open(classKeys: keys).get("a") == "1")
    let other = try await ScratchStore(classKeys: ClassKeys(firstUnlock: .passcode))
    await #expect(throws: VaultError.notUnlocked(.whenUnlocked), "another store's key opens nothing") {
      try await other.open(classKeys: keys).put("a", "1")
    }
  }

  @Test("item classes open with a new passcode, also with one set by the recovery key, and not with the old one")
  func changes() async throws {
    let vault = try await started()
    try await Person(passcodes: [right], newPasscode: "second one").with(vault) {
      try await vault.changePasscode(in: $0)
    }
    #expect(try await open(vault).count == 3)
    let later = try store.open()
    await #expect(throws: VaultError.wrongPasscode) { try await unlock(later) }
    try await unlock(later, "second one")
    #expect(try await open(later).count == 3)
    let last = try store.open()
    _ = try await Person(newPasscode: "third one", recoveryKey: store.recoveryKey).with(last) {
      try await last.recover(in: $0)
    }
    #expect(try await open(last).count == 3)
    let reopened = try store.open()
    #expect(try await open(reopened) == [])
    try await unlock(reopened, "third one")
    #expect(try await open(reopened).count == 3)
  }

  @Test("the passcode cannot be removed while every class key needs it")
  func removal() async throws {
    let vault = try await started()
    await #expect(throws: VaultError.self) {
      try await Person(passcodes: [right]).with(vault) { try await vault.removePasscode(in: $0) }
    }
    #expect(try await vault.status().passcodeSet)
    await #expect(throws: VaultError.passcodeNotSet) {
      try await ScratchStore(passcode: nil, classKeys: ClassKeys(firstUnlock: .passcode))
    }
  }

  @Test("an older store gets the passcode into its class keys the next time it is given, and is closed until then")
  func adoption() async throws {
    let store = try await ScratchStore()
    try await store.open().put("a", "1")
    let vault = try store.open(classKeys: ClassKeys(firstUnlock: .passcode))
    await #expect(throws: VaultError.notUnlocked(.whenUnlocked)) { try await vault.get("a") }
    #expect(try await vault.rootKeyOpensClasses() == 3)
    try await unlock(vault)
    #expect(try await vault.get("a") == "1")
    #expect(try await vault.rootKeyOpensClasses() == 0)
    let later = try store.open()
    await #expect(throws: VaultError.notUnlocked(.whenUnlocked), "whoever opens it next") { try await later.get("a") }
    #expect(try await later.integrityProblems() == [])
  }

  @Test("a restored store opens its item classes after the passcode has accepted the restore, and not before")
  func restore() async throws {
    let vault = try await started()
    let copy = try store.snapshot()
    try await unlock(vault)
    try await vault.put("later", "x")
    await vault.close()
    try store.restore(["vault.db", "vault.db-wal", "vault.db-shm"], from: copy)
    let restored = try store.open()
    #expect(try await open(restored) == [])
    await #expect(throws: VaultError.restoreDetected) { try await unlock(restored) }
    #expect(try await open(restored) == [])
    try await restored.acceptRestore(by: Person(passcodes: [right]))
    #expect(try await open(restored).count == 3)
  }

  @Test("a class key whose parameters were edited is reported as damage and opens no item, even after the passcode")
  func edited() async throws {
    let vault = try await started()
    await vault.close()
    try await store.edit("UPDATE slot SET parameters = x'' WHERE name LIKE 'class %'")
    let edited = try store.open()
    for isUnlocked in [false, true] {
      if isUnlocked { try await unlock(edited) }
      for (name, _) in classes {
        await #expect {
          try await edited.get(name)
        } throws: { error in
          if case .storeDamaged = error as? VaultError { true } else { false }
        }
      }
    }
  }
}

extension Vault {
  /// How many class keys open with the root key alone.
  fileprivate func rootKeyOpensClasses() throws -> Int {
    let store = store
    return try store.read { snapshot in
      try Accessibility.allCases.filter { accessibility in
        let slot = try #require(try snapshot.slot(.classKey(accessibility)))
        return (try? slot.unwrap(under: store.keys.root, databaseID: store.keys.databaseID)) != nil
      }.count
    }
  }
}
