import GRDB
import Keys
import Primitives
import Synchronization
import Testing
import VaultDriver

@testable import Presence
@testable import Vault
@testable import VaultItems
@testable import VaultStore

@Suite("Detecting an earlier copy of the store")
struct RollbackTests {
  private static let files = ["vault.db", "vault.db-wal", "vault.db-shm"]

  @Test("a restored database and a restored or deleted manifest close protected items until the passcode accepts them")
  func partial() async throws {
    let right = ScratchStore.passcode
    for (files, what) in [(Self.files, "the database"), (["state"], "the manifest"), ([], "a deleted manifest")] {
      let store = try await ScratchStore()
      do {
        let vault = try store.open()
        try await vault.put("gated", "1", .presence)
        try await vault.put("open", "2")
      }
      let copy = try store.snapshot()
      do {
        let vault = try store.open()
        for count in 0..<3 { try await vault.put("more", "\(count)", replace: true) }
      }
      if files.isEmpty {
        try store.restore(["state"], from: "/nonexistent")
      } else {
        try store.restore(files, from: copy)
      }
      let hours = Mutex<UInt64>(0)
      let vault = try store.open(
        clock: BootClock(bootID: { "this boot" }, now: { hours.withLock { $0 } * 3_600_000_000_000 }))
      #expect(try await vault.status().restoreDetected, "\(what)")
      await #expect(throws: VaultError.restoreDetected) {
        try await vault.get("gated", ContextOptions(preferPasscode: true), by: Person(passcodes: [right]))
      }
      await #expect(throws: VaultError.restoreDetected) { try await vault.put("new", "x") }
      #expect(try await vault.get("open") == "2", "what nothing gates stays readable")
      await #expect(throws: VaultError.restoreDetected, "not by the way: \(what)") {
        try await Person(passcodes: [right]).with(vault) { try await vault.unlock(in: $0) }
      }
      if files.isEmpty {
        await #expect(throws: VaultError.passcodeDelayed(seconds: 3600)) {
          try await vault.acceptRestore(by: Person(passcodes: [right]))
        }
        hours.withLock { $0 += 1 }
      }
      try await vault.acceptRestore(by: Person(passcodes: [right]))
      #expect(try await vault.status().restoreDetected == false)
      #expect(
        try await vault.get("gated", ContextOptions(preferPasscode: true), by: Person(passcodes: [right])) == "1")
      #expect(try await store.open().status().restoreDetected == false)
    }
  }

  @Test("wrong passcodes are not forgotten if the database or manifest is restored")
  func failuresStay() async throws {
    for files in [Self.files, ["state"]] {
      let store = try await ScratchStore()
      let copy = try store.snapshot()
      do {
        let vault = try store.open()
        for _ in 1...5 {
          _ = try? await Person(passcodes: ["wrong"]).with(vault) { try await vault.unlock(in: $0) }
        }
      }
      try store.restore(files, from: copy)
      let now = Mutex<UInt64>(1_000)
      let clock = BootClock(bootID: { "this boot" }, now: { now.withLock { $0 } })
      let vault = try store.open(clock: clock)
      await #expect(throws: VaultError.self, "\(files)") {
        try await vault.acceptRestore(by: Person(passcodes: [ScratchStore.passcode]))
      }
      #expect(try await vault.status().passcodeDelay == 60, "\(files)")
      now.withLock { $0 += 60_000_000_000 }
      try await vault.acceptRestore(by: Person(passcodes: [ScratchStore.passcode]))
      #expect(try await vault.status().restoreDetected == false, "the delay ends, and the passcode accepts: \(files)")
    }
  }

  @Test("a manifest that is one commit behind, as after a crash, is no restore and is updated")
  func oneBehind() async throws {
    let store = try await ScratchStore()
    try await store.open().put("a", "1")
    let copy = try store.snapshot()
    try await store.open().put("b", "2")
    try store.restore(["state"], from: copy)
    let vault = try store.open()
    #expect(try await vault.status().restoreDetected == false)
    try await vault.put("c", "3")
    #expect(try await store.open().status().restoreDetected == false)
  }

  @Test("a store without its manifest is locked out, and has the longest passcode delay")
  func noManifest() async throws {
    let store = try await ScratchStore()
    try store.restore(["state"], from: "/nonexistent")
    let vault = try store.open()
    #expect(try await vault.status().lockedOut)
    #expect(try await vault.status().passcodeDelay == 3600)
  }

  @Test("a passcode delay that only the manifest contains runs down like any other")
  func delayOfTheManifest() async throws {
    let store = try await ScratchStore()
    let copy = try store.snapshot()
    do {
      let vault = try store.open()
      for _ in 1...5 {
        _ = try? await Person(passcodes: ["wrong"]).with(vault) { try await vault.unlock(in: $0) }
      }
    }
    try store.restore(Self.files, from: copy)
    let boot = BootClock.system
    let later = Mutex<UInt64>(0)
    let vault = try store.open(
      clock: BootClock(bootID: boot.bootID, now: { boot.now() + later.withLock { $0 } * 1_000_000_000 }))
    let unlock = { @Sendable () async throws in
      _ = try await vault.acceptRestore(by: Person(passcodes: [ScratchStore.passcode]))
    }
    await #expect(throws: VaultError.passcodeDelayed(seconds: 60)) { try await unlock() }
    later.withLock { $0 = 61 }
    try await unlock()
    #expect(try await vault.status().restoreDetected == false)
  }

  @Test("a restored store satisfies no policy before the restore is accepted")
  func evaluation() async throws {
    let store = try await ScratchStore()
    let vault = try store.open()
    var options = ContextOptions(preferPasscode: true)
    options.keepsEvidence = true
    let person = Person(passcodes: [ScratchStore.passcode, ScratchStore.passcode])
    try await person.with(vault, options) { handle in
      try await vault.evaluate(.deviceOwner, reason: nil, in: handle)
      try store.restore(["state"], from: "/nonexistent")
      await #expect(throws: VaultError.restoreDetected, "by what was shown before") {
        try await vault.evaluate(.deviceOwner, reason: nil, in: handle)
      }
    }
    await #expect(throws: VaultError.restoreDetected, "by the passcode") {
      try await person.with(vault, options) { try await vault.evaluate(.deviceOwner, reason: nil, in: $0) }
    }
  }

  @Test("a store with a damaged record is accepted only with its recovery key, not with its passcode")
  func plantedPublicKey() async throws {
    let store = try await ScratchStore()
    let planted = try X25519.publicKey(of: try Random.key())
    try await store.edit("UPDATE store SET authority = x'00'")
    try await store.edit("UPDATE slot SET parameters = ? WHERE name = 'passcode public key'", [planted.data])
    let vault = try store.open()
    await #expect(throws: VaultError.recoveryKeyRequired) {
      try await vault.acceptRestore(by: Person(passcodes: [ScratchStore.passcode], recoveryKey: store.recoveryKey))
    }
    let restore = try #require(try await vault.detectedRestore())
    _ = try await Person(newPasscode: "another", recoveryKey: store.recoveryKey).with(vault) {
      try await vault.recover(accepting: restore.id, in: $0)
    }
    try await vault.put("gated", "1", .passcode)
    #expect(try await vault.get("gated", by: Person(passcodes: ["another"])) == "1")
    await #expect(throws: VaultError.wrongPasscode) {
      try await vault.get("gated", by: Person(passcodes: [ScratchStore.passcode]))
    }
  }

  @Test("a restored store that changes after its contents were shown is not accepted")
  func changedMeanwhile() async throws {
    let store = try await ScratchStore()
    let right = ScratchStore.passcode
    try await store.open().put("a", "1")
    let copy = try store.snapshot()
    for count in 0..<3 { try await store.open().put("b", "\(count)", replace: true) }
    try store.restore(Self.files, from: copy)
    let vault = try store.open()
    let shown = try #require(try await vault.detectedRestore())
    #expect(shown.items.map(\.description) == ["a"])
    #expect(shown.acceptance == .passcode)
    try await store.edit("DELETE FROM item")
    await #expect(throws: VaultError.restoreChanged) {
      try await Person(passcodes: [right]).with(vault) { _ = try await vault.acceptRestore(shown.id, in: $0) }
    }
    let owner = Person(newPasscode: "another", recoveryKey: store.recoveryKey)
    await #expect(throws: VaultError.restoreChanged) {
      _ = try await owner.with(vault) { try await vault.recover(accepting: shown.id, in: $0) }
    }
    #expect(try await vault.status().restoreDetected)
    try await vault.acceptRestore(by: Person(passcodes: [right]))
    #expect(try await !vault.status().restoreDetected)
  }

  @Test("a restored store tries a passcode only to accept the restore")
  func noOracle() async throws {
    let store = try await ScratchStore()
    try store.restore(["state"], from: "/nonexistent")
    let vault = try store.open()
    let person = { Person(passcodes: ["wrong"], newPasscode: "another") }
    for call in [
      { @Sendable context in try await vault.changePasscode(in: context) },
      { context in _ = try await vault.removePasscode(in: context) },
      { context in try await vault.unlock(in: context) },
      { context in _ = try await vault.enroll(.rightIndex, in: context) },
    ] as [@Sendable (ContextHandle) async throws -> Void] {
      await #expect(throws: VaultError.restoreDetected) { try await person().with(vault) { try await call($0) } }
    }
    // The recovery key sets no new passcode either, unless the restore is given.
    await #expect(throws: VaultError.restoreDetected) {
      try await Person(newPasscode: "another", recoveryKey: store.recoveryKey).with(vault) {
        try await vault.recover(in: $0)
      }
    }
  }
}
