import Foundation
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

/// A backup is sealed under a key of its store, and the store's owner has the recovery key, from which that key follows.
/// So any user can make the service read any rows.
@Suite("Backups that were made by an enemy who knows the format")
struct HostileBackupTests {
  private func file() -> Int32 {
    var template = Array("/tmp/whorl-backup-XXXXXX".utf8CString)
    defer { unlink(template) }
    return mkstemp(&template)
  }

  private func keys(of backup: BackupFile, _ store: ScratchStore) throws -> RootKeys {
    let root = try backup.head.recovery.unwrap(
      under: RecoveryKey.slotKey(of: SecretBytes(text: store.recoveryKey)), databaseID: backup.head.databaseID,
      otherwise: .wrongRecoveryKey)
    return try RootKeys(root: root, databaseID: backup.head.databaseID)
  }

  /// A backup with the head of a genuine one, and with contents that are appended by `append`.
  private func forged(
    of genuine: Int32, _ store: ScratchStore, _ append: (SealedChunks) throws -> Void
  ) throws -> Int32 {
    let forged = file()
    var start = [UInt8](repeating: 0, count: 4 << 10)
    start.removeLast(start.count - max(0, pread(genuine, &start, start.count, 0)))
    let head = Array(start.prefix(17 + Int(start[16]) + Int(start[15]) << 8))
    try #require(write(forged, head, head.count) == head.count)
    let backup = try BackupFile(from: forged)
    let chunks = try SealedChunks(to: LentFile(forged, name: "it"), key: backup.key(keys(of: backup, store)))
    try append(chunks)
    try chunks.finish()
    return forged
  }

  private static func value(_ kind: UInt8, _ bytes: [UInt8]) -> [UInt8] {
    [kind] + withUnsafeBytes(of: Int64(bytes.count).bigEndian) { Array($0) } + bytes
  }

  @Test("a forged backup with values or a row longer than those of any store is refused before it takes much memory")
  func hugeRow() async throws {
    let store = try await ScratchStore()
    let vault = try store.open()
    try await vault.put("a", "secret", .none)
    let genuine = file()
    try await vault.backUp(to: genuine)
    let integer = [1] + withUnsafeBytes(of: Int64(1).bigEndian) { Array($0) }
    // In the columns of an item: numbers where the schema wants some, else bytes.
    func row(of length: Int) -> [[UInt8]] {
      let long = Self.value(3, [UInt8](repeating: 7, count: length))
      return [
        [5] + integer, Self.value(3, [1]), integer, long, integer, integer, Self.value(2, Array("none".utf8)), [0],
        [1] + [UInt8](repeating: 0, count: 8), long, long, long, long,
      ]
    }
    for length in [31 << 20, 3 << 20, 1 << 20] {
      let forged = try forged(of: genuine, store) { chunks in
        for part in row(of: length) { try chunks.append(part) }
        try chunks.append([0] + [UInt8](repeating: 0, count: 8))
      }
      let backup = try BackupFile(from: forged)
      let before = Self.peak()
      #expect(throws: VaultError.fileUnreadable("the backup does not have the rows of a store"), "\(length)") {
        try backup.open(into: store.folder + "/\(length)", keys(of: backup, store), quota: 256 << 20).close()
      }
      print("a row of 5 times \(length >> 20) MiB took \((Self.peak() - before) >> 10) MiB")
      close(forged)
    }
  }

  /// The most memory that this process has taken, in KiB.
  private static func peak() -> Int {
    var usage = rusage()
    getrusage(__rusage_who_t(RUSAGE_SELF.rawValue), &usage)
    return usage.ru_maxrss
  }

  /// What an enemy changes in the rows of a store of their own.
  private static let edits = [
    "UPDATE item SET revision = 9223372036854775807", "UPDATE item SET revision = -9223372036854775808",
    "UPDATE item SET access = -1", "UPDATE item SET accessibility = 'later'", "UPDATE item SET owner = -1",
    "UPDATE item SET owner = 9223372036854775807", "UPDATE item SET dead = 9223372036854775807",
    "UPDATE item SET row = 9223372036854775807", "UPDATE item SET row = -9223372036854775808 + row",
    "UPDATE item SET attributes = x'', item_key = NULL, secret = NULL", "UPDATE item SET derivation = x'00'",
    "UPDATE item SET generation = x'00'", "UPDATE item SET secret = NULL", "UPDATE store SET authority = x''",
    "UPDATE item_index SET row = 9223372036854775807", "DELETE FROM item_index", "DELETE FROM slot",
    "DELETE FROM slot WHERE name = 'recovery'", "UPDATE slot SET box = x''", "UPDATE slot SET parameters = x''",
    "UPDATE slot SET name = 'other-' || name", "DELETE FROM store", "UPDATE store SET database_id = x'01'",
    "INSERT INTO slot (name, parameters, box) VALUES ('login', x'', x'')",
    "INSERT INTO enrolment_set (reader, record, set_key) VALUES (x'00', x'00', NULL)",
    "UPDATE sqlite_sequence SET seq = 9223372036854775807", "UPDATE sqlite_sequence SET seq = -9223372036854775808",
  ]

  /// A backup of the store with edited rows.
  private func edited(
    _ genuine: Int32, _ store: ScratchStore, _ name: String, _ edit: (Database, borrowing RootKeys) throws -> Void
  )
    throws -> Int32
  {
    let backup = try BackupFile(from: genuine)
    let keys = try keys(of: backup, store)
    let database = try backup.open(into: store.folder + "/edited-\(name)", keys, quota: nil)
    defer { database.close() }
    try database.queue.write { try edit($0, keys) }
    return try forged(of: genuine, store) { chunks in
      try database.queue.read { db in try BackupRows.write(db) { try chunks.append($0) } }
    }
  }

  /// Uses what is made of a backup as a person does. Errors are fine, and traps are not.
  private func use(_ forged: Int32, _ store: ScratchStore, in vault: Vault, _ name: String) async throws {
    if let contents = try? await vault.contents(ofBackup: forged) {
      _ = try? await Person(passcodes: [ScratchStore.passcode]).with(vault) { handle in
        try await vault.restore(
          forged, accepting: contents.id, Request(of: vault.itself, Asking(in: handle)))
      }
    }
    let place = store.folder + "/new-\(name)"
    guard
      let new = try? StoreCreation.newStore(
        at: place, from: forged, recoveryKey: SecretBytes(text: store.recoveryKey), owner: geteuid(),
        floor: .weakForTests
      ).store
    else { return }
    try new.keep()
    guard let made = try? Vault(at: place, desk: NoReader.desk, owner: geteuid(), floor: .weakForTests)
    else { return }
    _ = try? await made.items(ItemSearch())
    _ = try? await made.get("a")
    try? await made.put("a", "other", .none)
    try? await made.put("new", "other", .none)
    _ = try? await made.status()
    _ = try? await made.integrityProblems()
    await made.close()
  }

  @Test("a forged backup with impossible values in its rows ends nothing but its own restore", arguments: edits.indices)
  func impossibleRows(number: Int) async throws {
    let store = try await ScratchStore()
    let vault = try store.open()
    for name in ["a", "b"] { try await vault.put(name, "secret", .none) }
    let genuine = file()
    try await vault.backUp(to: genuine)
    // The schema itself may refuse the edit.
    if let forged = try? edited(genuine, store, "rows", { db, _ in try db.execute(sql: Self.edits[number]) }) {
      try await use(forged, store, in: vault, "rows")
    }
    // The store that was backed up can still be used.
    try await vault.put("after", "secret", .none)
    #expect(try await vault.get("after") == "secret")
  }

  @Test("a forged backup with the highest counts and numbers in its sealed record ends nothing but its own restore")
  func extremeRecord() async throws {
    let store = try await ScratchStore()
    let vault = try store.open()
    try await vault.put("a", "secret", .none)
    let genuine = file()
    try await vault.backUp(to: genuine)
    let sequences: [UInt64] = [.max, .max - 1, 1 << 63]
    for (number, sequence) in sequences.enumerated() {
      let forged = try edited(genuine, store, "record-\(number)") { db, keys in
        let box = try #require(try Data.fetchOne(db, sql: "SELECT authority FROM store"))
        let opened = Authority(box: Array(box), keys: keys)
        var authority = try #require(opened)
        authority.sequence = sequence
        authority.lockout.failures = .max
        authority.lockout.passcode = Tries(failures: .max, boot: BootClock.system.bootID(), until: .max)
        authority.passwords = [[1]: Tries(failures: .max, boot: "", until: .max)]
        try db.execute(sql: "UPDATE store SET authority = ?", arguments: [Data(try authority.sealed(keys))])
      }
      try await use(forged, store, in: vault, "record-\(number)")
    }
    try await vault.put("after", "secret", .none)
    #expect(try await vault.get("after") == "secret")
  }

  @Test(
    "a backup with bytes changed, cut off, repeated or put in is refused, and changes nothing", .timeLimit(.minutes(60))
  )
  func changedBytes() async throws {
    let store = try await ScratchStore()
    let vault = try store.open()
    try await vault.put("a", "secret", .none)
    let genuine = file()
    try await vault.backUp(to: genuine)
    var bytes = [UInt8](repeating: 0, count: Int(lseek(genuine, 0, SEEK_END)))
    try #require(pread(genuine, &bytes, bytes.count, 0) == bytes.count)
    try await vault.put("a", "newer", .none, replace: true)
    var random = Campaign.Generator("changed backups")
    for number in 1...Campaign.count(short: 60, long: 10_000) {
      var changed = bytes
      let place = Int.random(in: 0..<bytes.count, using: &random)
      switch Int.random(in: 0..<5, using: &random) {
      case 0: changed[place] ^= 1 << UInt8.random(in: 0..<8, using: &random)
      case 1: changed.removeLast(bytes.count - place)
      case 2: changed.insert(contentsOf: bytes.suffix(place), at: place)
      case 3: changed.insert(UInt8.random(in: 0...255, using: &random), at: place)
      default:
        // The numbers at the beginning.
        let start = Int.random(in: 0..<48, using: &random)
        for each in start..<start + 4 { changed[each] = [0, 0x7F, 0x80, 0xFF].randomElement(using: &random) ?? 0 }
      }
      guard changed != bytes else { continue }
      let forged = file()
      try #require(write(forged, changed, changed.count) == changed.count)
      await #expect(throws: VaultError.self, "\(number)") { _ = try await vault.contents(ofBackup: forged) }
      #expect(throws: (any Error).self, "\(number)") {
        _ = try StoreCreation.newStore(
          at: store.folder + "/changed", from: forged, recoveryKey: SecretBytes(text: store.recoveryKey),
          owner: geteuid(), floor: .weakForTests)
      }
      #expect(access(store.folder + "/changed", F_OK) != 0)
      close(forged)
    }
    #expect(try await vault.get("a") == "newer")
    #expect(try await vault.status().failures == 0)
  }

  @Test("items of a backup with names like paths and options are restored, and no file gets such a name")
  func pathNames() async throws {
    let store = try await ScratchStore()
    let vault = try store.open()
    let names = ["../../../tmp/whorl-escape", "/tmp/whorl-escape", "~", "-rf", "a/../../b", "vault.db", "state"]
    for name in names {
      _ = try await vault.add(
        NewItem(.genericPassword, [.service: .text(name)]), secret: SecretBytes(text: "of \(name)"), in: nil)
    }
    let genuine = file()
    try await vault.backUp(to: genuine)
    let place = store.folder + "/restored"
    let new = try StoreCreation.newStore(
      at: place, from: genuine, recoveryKey: SecretBytes(text: store.recoveryKey), owner: geteuid(),
      floor: .weakForTests
    ).store
    try new.keep()
    #expect(access("/tmp/whorl-escape", F_OK) != 0)
    let made = try Vault(at: place, desk: NoReader.desk, owner: geteuid(), floor: .weakForTests)
    let found = try await made.items(ItemSearch())
    #expect(Set(found.map { $0.name?.service ?? "" }) == Set(names))
    await made.close()
  }
}
