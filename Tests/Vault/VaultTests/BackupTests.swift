import Fingerprint
import Glibc
import SecureMemory
import Testing
import VaultDriver

@testable import Vault

@Suite("Backups of a store with fingers and a passcode")
struct BackupTests {
  private let reader = ScriptedReader()

  private func file() -> Int32 {
    var template = Array("/tmp/whorl-backup-XXXXXX".utf8CString)
    defer { unlink(template) }
    return mkstemp(&template)
  }

  private func request(_ handle: ContextHandle?, _ vault: Vault) -> Request {
    Request(of: vault.itself, Asking(in: handle))
  }

  private func restore(_ file: Int32, into vault: Vault, by person: Person) async throws -> [String] {
    let contents = try await vault.contents(ofBackup: file)
    return try await person.with(vault) { handle in
      try await vault.restore(file, accepting: contents.id, self.request(handle, vault))
    }.map(\.description)
  }

  private func enroll(_ finger: Finger, _ vault: Vault) async throws {
    _ = try await Person(passcodes: [ScratchStore.passcode]).with(vault) { try await vault.enroll(finger, in: $0) }
  }

  @Test("no removed finger comes back, and what was bound to it is dead; what is bound to the fingers of now lives")
  func fingers() async throws {
    let store = try await ScratchStore()
    let vault = try store.open(reader: reader)
    try await enroll(.rightIndex, vault)
    for (name, access) in [("bound", AccessControl.Constraint.currentSet), ("gated", .presence), ("free", .none)] {
      try await vault.put(name, name, access)
    }
    let old = file()
    try await vault.backUp(to: old)
    try await enroll(.leftIndex, vault)
    try await vault.put("bound later", "bound later", .currentSet)
    let before = try await vault.status()
    let contents = try await vault.contents(ofBackup: old)
    #expect(contents.dead.map(\.description) == ["bound"])
    let dead = try await restore(old, into: vault, by: Person(passcodes: [ScratchStore.passcode]))
    #expect(dead == ["bound"])
    let after = try await vault.status()
    #expect(after.sets.map(\.digest) == before.sets.map(\.digest))
    #expect(
      after.sets.flatMap { $0.fingers.map(\.finger) }.sorted { $0.rawValue < $1.rawValue } == [.leftIndex, .rightIndex])
    await #expect(throws: VaultError.itemInvalidated(try ItemName(parsing: "bound"))) {
      _ = try await vault.get("bound")
    }
    #expect(try await vault.get("free") == "free")
    // A backup with the fingers of now.
    let new = file()
    try await vault.put("bound anew", "bound anew", .currentSet)
    try await vault.backUp(to: new)
    #expect(try await restore(new, into: vault, by: Person(passcodes: [ScratchStore.passcode])) == [])
    #expect(try await vault.get("bound anew") == "bound anew")
    #expect(try await vault.integrityProblems().isEmpty)
  }

  @Test("after another passcode the recovery key restores; the old passcode opens nothing, the new one everything")
  func changedPasscode() async throws {
    let store = try await ScratchStore()
    let vault = try store.open()
    try await vault.put("closed", "of closed", .passcode, accessibility: .passcodeSet)
    let old = file()
    try await vault.backUp(to: old)
    try await Person(passcodes: [ScratchStore.passcode], newPasscode: "another").with(vault) {
      try await vault.changePasscode(in: $0)
    }
    #expect(try await vault.contents(ofBackup: old).proof == .recoveryKey)
    await #expect(throws: VaultError.interactionNotAllowed) {
      _ = try await restore(old, into: vault, by: Person(passcodes: [ScratchStore.passcode, "another"]))
    }
    #expect(try await restore(old, into: vault, by: Person(recoveryKey: store.recoveryKey)) == [])
    await #expect(throws: VaultError.self) {
      _ = try await vault.get("closed", by: Person(passcodes: [ScratchStore.passcode]))
    }
    #expect(try await vault.get("closed", by: Person(passcodes: ["another"])) == "of closed")
  }

  @Test("what needs a passcode that was removed comes back dead, also where another one was set since")
  func removedPasscode() async throws {
    let store = try await ScratchStore()
    let vault = try store.open()
    try await vault.put("closed", "of closed", .passcode)
    try await vault.put("of the class", "of the class", .none, accessibility: .passcodeSet)
    try await vault.put("free", "free")
    let old = file()
    try await vault.backUp(to: old)
    _ = try await Person(passcodes: [ScratchStore.passcode]).with(vault) { try await vault.removePasscode(in: $0) }
    #expect(
      try await vault.contents(ofBackup: old).dead.map(\.description).sorted() == ["closed", "of the class"])
    #expect(
      try await restore(old, into: vault, by: Person(recoveryKey: store.recoveryKey)).sorted()
        == ["closed", "of the class"])
    #expect(try await vault.get("free") == "free")
    try await Person(newPasscode: "another", recoveryKey: store.recoveryKey).with(vault) {
      try await vault.changePasscode(in: $0)
    }
    #expect(
      try await restore(old, into: vault, by: Person(recoveryKey: store.recoveryKey)) == ["of the class"])
    #expect(try await vault.get("closed", by: Person(passcodes: ["another"])) == "of closed")
  }

  @Test("no count of failures gets lower by trying: wrong passcodes are counted in the store, and the delay holds")
  func counts() async throws {
    let store = try await ScratchStore()
    let vault = try store.open()
    try await vault.put("free", "free")
    let old = file()
    try await vault.backUp(to: old)
    for _ in 1...2 {
      _ = try? await restore(old, into: vault, by: Person(passcodes: ["wrong", "wrong", "wrong"]))
    }
    #expect(try await vault.status().passcodeDelay > 0)
    await #expect(throws: VaultError.self) {
      _ = try await restore(old, into: vault, by: Person(passcodes: [ScratchStore.passcode]))
    }
    #expect(try await vault.status().passcodeDelay > 0)
  }

  @Test("the copy is that of one moment, while another program stores items")
  func oneMoment() async throws {
    let store = try await ScratchStore()
    let (vault, other) = (try store.open(), try store.open())
    try await vault.put("first", "first")
    let writing = Task {
      for number in 0..<40 { try await other.put("item \(number)", "secret \(number)") }
    }
    for _ in 0..<5 {
      let copy = file()
      try await vault.backUp(to: copy)
      // A record that does not belong to the database would not verify.
      let contents = try await vault.contents(ofBackup: copy)
      #expect(contents.items >= 1 && contents.returning.isEmpty && contents.changed.isEmpty)
      close(copy)
    }
    try await writing.value
    #expect(try await vault.integrityProblems().isEmpty)
  }

  @Test("a store with an earlier copy put back makes none, and takes none")
  func detectedRestore() async throws {
    let store = try await ScratchStore()
    let vault = try store.open()
    try await vault.put("one", "one")
    let good = file()
    try await vault.backUp(to: good)
    let copy = try store.snapshot()
    try await vault.put("two", "two")
    try await vault.put("three", "three")
    await vault.close()
    try store.restore(["vault.db", "vault.db-wal", "vault.db-shm"], from: copy)
    let back = try store.open()
    await #expect(throws: VaultError.restoreDetected) { try await back.backUp(to: file()) }
    await #expect(throws: VaultError.restoreDetected) { _ = try await back.contents(ofBackup: good) }
  }
}
