import FoundationEssentials
import GRDB
import Keys
import Primitives
import Testing
import VaultDriver

@testable import Presence
@testable import Vault
@testable import VaultItems
@testable import VaultStore

@Suite("An edited database reveals nothing and damages no other item")
struct TamperTests {
  /// Each table's columns that hold bytes or numbers an editor might change.
  private static let columns: [(table: String, key: String, columns: [String])] = [
    (
      "item", "row",
      [
        "id", "owner", "name_index", "revision", "access", "accessibility", "generation", "dead",
        "attributes", "derivation", "item_key", "secret",
      ]
    ),
    ("slot", "name", ["name", "parameters", "box"]),
    ("store", "id", ["database_id", "authority"]),
  ]

  @Test("an item whose rule is edited in the database during its touch is reported as damaged")
  func editedInFlight() async throws {
    let image = try await ImageReaderStore()
    let editor = try DatabaseQueue(path: image.store.path + "/vault.db")
    let reader = InterposedReader(
      real: image.process,
      beforeAnswer: { answer throws(ReaderError) in
        try? editor.write { db in try db.execute(sql: "UPDATE item SET access = 0") }
        return answer
      })
    let vault = try image.store.open(reader: reader)
    _ = try await image.enroll(.rightIndex, in: try image.store.open(reader: image.process))
    let item = try await vault.add("item", .biometryAny)
    await #expect(throws: VaultError.itemDamaged(try ItemName(parsing: "item"))) {
      try await Person(touches: [image.press(.rightIndex)]).with(vault) {
        _ = try await vault.secrets(of: [item], reason: nil, in: $0)
      }
    }
  }

  @Test(
    "a read of open items leaves out a damaged one",
    arguments: [
      "attributes = x'00'", "secret = x'00'", "secret = zeroblob(length(secret))", "item_key = x'00'", "dead = 1",
    ])
  func openItems(damage: String) async throws {
    let store = try await ScratchStore()
    let vault = try store.open()
    for name in ["a", "b"] { try await vault.put(name, "secret of \(name)") }
    try await store.edit("UPDATE item SET \(damage) WHERE row = (SELECT min(row) FROM item)")
    let names = try ["a", "b", "a"].map { try ItemName(parsing: $0) }
    let released = try await VaultSession(of: vault).secrets(.open(names, group: AccessGroup.commandLine), .nobody)
    #expect(released.map(\.text) == ["secret of b"])
  }

  @Test(
    "an open vault notices an edit of a row that it has opened before",
    arguments: [
      "id = zeroblob(16)", "owner = 7", "name_index = zeroblob(32)", "revision = 9", "access = 1",
      "accessibility = 'when-passcode-set'", "generation = x'00'", "dead = 1",
      "attributes = zeroblob(length(attributes))",
      "derivation = x'00'", "attributes = (SELECT attributes FROM item WHERE row = (SELECT max(row) FROM item))",
    ])
  func editedAfterRead(edit: String) async throws {
    let store = try await ScratchStore()
    let vault = try store.open()
    for name in ["a", "b"] { try await vault.put(name, "secret of \(name)") }
    func names() async throws -> [String] { try await vault.items(ItemSearch()).compactMap { $0.name?.description } }
    #expect(try await names() == ["a", "b"])
    try await store.edit("UPDATE item SET \(edit) WHERE row = (SELECT min(row) FROM item)")
    #expect(try await names() == ["b"])
  }

  @Test("a store keeps the opened records of a limited number of rows")
  func openedRecords() throws {
    var records = OpenedRecords()
    let record = ItemRecord(named: try ItemName(parsing: "a"))
    func row(_ number: Int, bytes: Int = 1) -> ItemRow {
      var row = ItemRow(
        id: [1], owner: 0, nameIndex: [2], access: .none, accessibility: .whenUnlocked, derivation: nil)
      row.row = Int64(number)
      row.attributes = Array(repeating: 3, count: bytes)
      return row
    }
    let rows = 3 * OpenedRecords.limit
    for number in 0..<rows {
      records.keep(record, of: row(number))
      #expect(records.count <= OpenedRecords.limit)
    }
    #expect(records.record(of: row(rows - 1)) == record)
    #expect(records.record(of: row(rows - 1, bytes: 2)) == nil)
    #expect(records.record(of: row(0)) == nil)
    var keyed = row(rows - 1)
    keyed.itemKey = [4]
    #expect(records.record(of: keyed) == record, "the wrapped key of an item is not kept")
    records.keep(record, of: row(rows, bytes: 10_000))
    #expect(records.record(of: row(rows, bytes: 10_000)) == nil)
  }

  @Test("a flipped bit in an item's row damages that item alone, and one in any other row releases no wrong secret")
  func flips() async throws {
    let store = try await ScratchStore()
    let secrets = ["a": "alpha alpha", "b": "beta beta", "c": "gamma gamma"]
    let reader = try store.open()
    for (name, secret) in secrets.sorted(by: { $0.key < $1.key }) { try await reader.put(name, secret) }
    let editor = try DatabaseQueue(path: store.path + "/vault.db")
    var flips = 0
    for (table, key, columns) in Self.columns {
      for column in columns {
        let rows: [Row] = try editor.read { db in
          try Row.fetchAll(db, sql: "SELECT \(key), \(column) FROM \(table)")
        }
        for row in rows {
          let (id, old): (DatabaseValue, DatabaseValue) = (row[0], row[1])
          for edited in Self.edits(of: old, everyBit: Campaign.isLong) {
            flips += 1
            let isEdited = try await editor.write { db in
              try db.execute(
                sql: "UPDATE OR IGNORE \(table) SET \(column) = ? WHERE \(key) = ?", arguments: [edited, id])
              return db.changesCount > 0
            }
            let readable = await Self.readable(store, secrets)
            if table == "item" {
              #expect(readable == (isEdited ? 2 : 3), "\(column): the edited item fails, the others stay readable")
            }
            try await editor.write { db in
              let place = column == key ? edited : id
              try db.execute(sql: "UPDATE \(table) SET \(column) = ? WHERE \(key) = ?", arguments: [old, place])
            }
          }
        }
      }
    }
    #expect(flips > 500)
    #expect(await Self.readable(store, secrets) == 3, "all is as it was")
    print("tamper: \(flips) edits, no plaintext of another item, no crash")
  }

  @Test("swapping the boxes, keys or names of two rows never gives one item's secret under the other's name")
  func swaps() async throws {
    let store = try await ScratchStore()
    let reader = try store.open()
    try await reader.put("a", "alpha")
    try await reader.put("b", "beta")
    let editor = try DatabaseQueue(path: store.path + "/vault.db")
    let columns = ["id", "name_index", "attributes", "item_key", "secret"]
    for first in 0..<columns.count {
      for second in first..<columns.count {
        for column in Set([columns[first], columns[second]]) { try Self.swap(column, editor) }
        for (name, other) in [("a", "beta"), ("b", "alpha")] {
          let got = try? await store.open().get(name)
          #expect(got != other, "\(columns[first]), \(columns[second])")
        }
        for column in Set([columns[first], columns[second]]) { try Self.swap(column, editor) }
      }
    }
    #expect(try await store.open().get("a") == "alpha")
  }

  @Test("a foreign database, planted triggers and views, and huge scrypt parameters are refused with the reason")
  func foreign() async throws {
    for planted in [
      "CREATE TRIGGER t AFTER INSERT ON item BEGIN DELETE FROM slot; END", "CREATE VIEW v AS SELECT secret FROM item",
      "CREATE TABLE extra (x)", "DROP INDEX item_by_generation", "PRAGMA user_version = 0",
    ] {
      let store = try await ScratchStore()
      let editor = try DatabaseQueue(path: store.path + "/vault.db")
      try await editor.writeWithoutTransaction { db in try db.execute(sql: planted) }
      try editor.close()
      #expect("\(planted)") {
        _ = try store.open()
      } throws: { error in
        if case .storeDamaged = error as? VaultError { true } else { false }
      }
    }
    let store = try await ScratchStore()
    let editor = try DatabaseQueue(path: store.path + "/vault.db")
    try await editor.writeWithoutTransaction { db in try db.execute(sql: "PRAGMA user_version = 7") }
    #expect(throws: VaultError.newerFormat(7)) { try store.open() }
    for older in [1, 2] {
      try await editor.writeWithoutTransaction { db in try db.execute(sql: "PRAGMA user_version = \(older)") }
      #expect(throws: VaultError.olderFormat(older)) { try store.open() }
    }
    try await editor.writeWithoutTransaction { db in
      try db.execute(sql: "PRAGMA user_version = \(StoreDatabase.version)")
    }
    let huge = Scrypt.Parameters(logN: 40, r: 64, p: 64, salt: Array(repeating: 1, count: 16)).encoded
    try await editor.write { db in
      try db.execute(sql: "UPDATE slot SET parameters = ? WHERE name LIKE 'passcode%'", arguments: [huge.data])
    }
    let vault = try store.open()
    await #expect("parameters that would exhaust the machine") {
      try await Person(passcodes: [ScratchStore.passcode]).with(vault) { try await vault.unlock(in: $0) }
    } throws: { error in
      if case .storeDamaged = error as? VaultError { true } else { false }
    }
  }

  @Test("a file that is not a database is refused as a store, and not changed")
  func notADatabase() async throws {
    let store = try await ScratchStore()
    try ScratchStore.run("/bin/sh", ["-c", "head -c 20000 /dev/urandom > \(store.path)/vault.db"])
    let file = try ScratchStore.contents(of: store.path + "/vault.db")
    #expect(throws: VaultError.self) { try store.open() }
    #expect(try ScratchStore.contents(of: store.path + "/vault.db") == file)
  }

  /// The number of items that still release their own secret. None may release anything else.
  private static func readable(_ store: ScratchStore, _ secrets: [String: String]) async -> Int {
    guard let vault = try? store.open() else { return 0 }
    var readable = 0
    for (name, secret) in secrets {
      guard let got = try? await vault.get(name) else { continue }
      #expect(got == secret, "never another's secret, never a changed one")
      readable += 1
    }
    return readable
  }

  private static func edits(of value: DatabaseValue, everyBit: Bool) -> [DatabaseValue] {
    switch value.storage {
    case .blob(let data):
      return (0..<data.count).flatMap { byte in
        (everyBit ? Array(0..<8) : [byte % 8]).map { bit in
          var edited = data
          edited[byte] ^= 1 << bit
          return edited.databaseValue
        }
      }
    case .int64(let number):
      return [(number ^ 1).databaseValue, (number ^ (1 << 31)).databaseValue, DatabaseValue.null]
    case .string(let text): return [(text + "x").databaseValue, 7.databaseValue]
    case .null: return ["x".databaseValue]
    case .double: return []
    }
  }

  private static func swap(_ column: String, _ editor: DatabaseQueue) throws {
    try editor.write { db in
      let rows = try Row.fetchAll(db, sql: "SELECT row, \(column) FROM item ORDER BY row")
      let (first, second): (DatabaseValue, DatabaseValue) = (rows[0][1], rows[1][1])
      // Swap through a third value, since the columns are unique.
      for (row, value) in [(0, "none".databaseValue), (1, first), (0, second)] {
        try db.execute(
          sql: "UPDATE item SET \(column) = ? WHERE row = ?", arguments: [value, rows[row][0] as DatabaseValue])
      }
    }
  }

  @Test("a search compares the items themselves, not their tags in the database's index")
  func tags() async throws {
    let store = try await ScratchStore()
    let vault = try store.open()
    try await vault.put("a", "alpha")
    try await vault.put("b", "beta")
    let editor = try DatabaseQueue(path: store.path + "/vault.db")
    try await editor.write { db in
      try db.execute(
        sql: "INSERT OR IGNORE INTO item_index (tag, row) SELECT tag, (SELECT max(row) FROM item) FROM item_index")
    }
    #expect(
      try await vault.items(ItemSearch(.genericPassword, [.service: .text("a")])).map(\.name?.description) == ["a"])
  }
}
