import GRDB
import Glibc
import Keys
import Primitives
import SecretModel
import Testing
import VaultDriver

@testable import Presence
@testable import Vault
@testable import VaultItems
@testable import VaultStore

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

  @Test("a restored backup brings no removed finger back; items bound to an earlier set are dead, others are restored")
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
    let owner = Person(passcodes: [ScratchStore.passcode])
    _ = try await owner.with(vault) { try await vault.unenroll(.rightIndex, in: $0) }
    try await vault.put("bound later", "bound later", .currentSet)
    let before = try await vault.status()
    let contents = try await vault.contents(ofBackup: old)
    #expect(contents.dead.map(\.description) == ["bound"])
    let dead = try await restore(old, into: vault, by: Person(passcodes: [ScratchStore.passcode]))
    #expect(dead == ["bound"])
    let after = try await vault.status()
    #expect(after.sets.map(\.digest) == before.sets.map(\.digest))
    #expect(after.sets.flatMap { $0.fingers.map(\.finger) } == [.leftIndex])
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

  /// The keys of a store, which its recovery key gives.
  private func keys(of backup: BackupFile, _ store: ScratchStore) throws -> RootKeys {
    let root = try backup.head.recovery.unwrap(
      under: RecoveryKey.slotKey(of: SecretBytes(text: store.recoveryKey)), databaseID: backup.head.databaseID,
      otherwise: .wrongRecoveryKey)
    return try RootKeys(root: root, databaseID: backup.head.databaseID)
  }

  private func bytes(of file: Int32) -> [UInt8] {
    var bytes = [UInt8](repeating: 0, count: 4 << 20)
    bytes.removeLast(bytes.count - max(0, pread(file, &bytes, bytes.count, 0)))
    return bytes
  }

  private func file(with bytes: [UInt8]) throws -> Int32 {
    let file = file()
    try #require(pwrite(file, bytes, bytes.count, 0) == bytes.count)
    return file
  }

  @Test("a backup that grows while it is read is refused, and opens when it is read again")
  func growing() async throws {
    let store = try await ScratchStore()
    let vault = try store.open()
    for number in 1...4 { try await vault.put("\(number)", String(repeating: "x", count: 60_000), .none) }
    let whole = file()
    try await vault.backUp(to: whole)
    let all = bytes(of: whole)
    // A forger writes the rest while it is read, with chunks that are all genuine.
    let forged = try file(with: Array(all.prefix(150_000)))
    let backup = try BackupFile(from: forged)
    try #require(pwrite(forged, all, all.count, 0) == all.count)
    #expect(throws: VaultError.fileUnreadable("the backup grew while it was read")) {
      _ = try backup.open(into: store.folder + "/a", keys(of: backup, store), quota: nil)
    }
    let again = try BackupFile(from: forged)
    try again.open(into: store.folder + "/b", keys(of: again, store), quota: nil).close()
  }

  @Test("a backup whose store would be larger than the user's quota is not restored")
  func quota() async throws {
    let store = try await ScratchStore()
    let vault = try store.open()
    for number in 1...4 { try await vault.put("\(number)", String(repeating: "x", count: 60_000), .none) }
    let old = file()
    try await vault.backUp(to: old)
    let backup = try BackupFile(from: old)
    #expect(throws: VaultError.storeFull(limit: 100_000)) {
      _ = try backup.open(into: store.folder + "/a", keys(of: backup, store), quota: 100_000)
    }
  }

  @Test("a forged backup that contains no rows of a store is refused, also if it is a SQLite database")
  func forgedRows() async throws {
    let store = try await ScratchStore()
    let vault = try store.open()
    try await vault.put("a", "secret", .none)
    let genuine = file()
    try await vault.backUp(to: genuine)
    let head = try BackupFile(from: genuine).head
    let database = try ScratchStore.contents(of: store.path + "/vault.db")
    func integer(_ number: Int64) -> [UInt8] { [1] + withUnsafeBytes(of: number.bigEndian) { Array($0) } }
    func value(_ kind: UInt8, _ bytes: [UInt8]) -> [UInt8] {
      [kind] + withUnsafeBytes(of: Int64(bytes.count).bigEndian) { Array($0) } + bytes
    }
    let row = [1] + integer(1) + value(3, [1]) + value(3, [2])
    let end: [UInt8] = [0] + Array(repeating: 0, count: 8)
    let forgeries: [[UInt8]] = [
      [], database, [9], row + row + end, [1] + integer(2) + value(3, [1]) + value(3, [2]) + end, row,
      [1, 7], [1, 3] + Array(repeating: 0xFF, count: 8), [1, 3] + Array(repeating: 0x7F, count: 8),
      [2] + value(2, [0xFF]) + value(3, []) + value(3, []) + end, row + end + [0],
    ]
    for (number, contents) in forgeries.enumerated() {
      let forged = file()
      let beginning = Array(
        bytes(of: genuine).prefix(17 + Int(bytes(of: genuine)[16]) + Int(bytes(of: genuine)[15]) << 8))
      try #require(write(forged, beginning, beginning.count) == beginning.count)
      let backup = try BackupFile(from: forged)
      #expect(backup.head.databaseID == head.databaseID)
      let chunks = try SealedChunks(
        to: LentFile(forged, name: "it"), key: backup.key(keys(of: backup, store)))
      try chunks.append(contents)
      try chunks.finish()
      let whole = try BackupFile(from: forged)
      #expect(throws: VaultError.fileUnreadable("the backup does not have the rows of a store"), "\(number)") {
        _ = try whole.open(into: store.folder + "/\(number)", keys(of: whole, store), quota: nil)
      }
    }
  }

  @Test("the number of a removed item is not used again after a restore into a new store")
  func numbers() async throws {
    let store = try await ScratchStore()
    let vault = try store.open()
    for name in ["a", "b", "c"] { try await vault.put(name, "secret", .none) }
    let id = try #require(try await vault.items(ItemSearch(named: try ItemName(parsing: "c"))).first).id
    _ = try await vault.delete([id])
    let old = file()
    try await vault.backUp(to: old)
    let new = try StoreCreation.newStore(
      at: store.folder + "/new", from: old, recoveryKey: SecretBytes(text: store.recoveryKey), owner: geteuid(),
      floor: .weakForTests
    ).store
    try new.keep()
    let database = try StoreDatabase(at: store.folder + "/new/vault.db")
    #expect(
      try await database.queue.read { try Int.fetchOne($0, sql: "SELECT seq FROM sqlite_sequence WHERE name = 'item'") }
        == 3)
    database.close()
  }

  @Test("a backup whose index leaves an item out hides no command of a login from a restore into a new store")
  func forgedIndex() async throws {
    let store = try await ScratchStore()
    let vault = try store.open()
    try await vault.put("mail", "gold", .none)
    let source = try #require(try await vault.items(.everything).first).id
    for name in ["touch /tmp/listed", "touch /tmp/hidden"] {
      _ = try await vault.add(
        NewItem(LoginItem(.command, name: name, source: source)), secret: SecretBytes(text: ""), in: nil)
    }
    try await store.edit("DELETE FROM item_index WHERE row = (SELECT max(row) FROM item)")
    let forged = file()
    try await vault.backUp(to: forged)
    let (new, leftOut) = try StoreCreation.newStore(
      at: store.folder + "/new", from: forged, recoveryKey: SecretBytes(text: store.recoveryKey), owner: geteuid(),
      floor: .weakForTests)
    try new.keep()
    #expect(leftOut.map(\.account).sorted() == ["touch /tmp/hidden", "touch /tmp/listed"])
    // Restored into the store that it came from, it has an index again.
    _ = try await restore(forged, into: vault, by: Person(passcodes: [ScratchStore.passcode]))
    #expect(try await vault.items(ItemSearch(loginItemsOf: nil)).count == 2)
  }

  @Test("after a new passcode, the recovery key restores an older backup, and only the new passcode opens its items")
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

  @Test("a backup's items of a removed passcode are restored dead; after a new passcode, only passcode-set items are")
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

  @Test("a wrong passcode for restoring a backup counts in the store, whose delay then refuses the right one")
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

  @Test("a backup shows one moment of the store, also while another program stores items")
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
      // The record verifies only if it belongs to the database.
      let contents = try await vault.contents(ofBackup: copy)
      #expect(contents.items >= 1 && contents.returning.isEmpty && contents.changed.isEmpty)
      close(copy)
    }
    try await writing.value
    #expect(try await vault.integrityProblems().isEmpty)
  }

  @Test("a store with a detected restore that nobody has accepted makes no backup, and reads none")
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
