import GRDB
import Primitives
import Testing
import VaultDriver

@testable import Presence
@testable import Vault
@testable import VaultStore

@Suite("A genuine row of an earlier time, put back into the database, is refused")
struct EarlierRowTests {
  private static let right = ScratchStore.passcode

  private func requireDamage(_ read: () async throws -> Void) async {
    let refused = await #expect(throws: VaultError.self) { try await read() }
    guard case .storeDamaged? = refused else { return #expect(Bool(false), "\(String(describing: refused))") }
  }

  @Test("an earlier row of the passcode, put back into the database, opens nothing with the old or new passcode")
  func passcode() async throws {
    let store = try await ScratchStore()
    let vault = try store.open()
    try await vault.put("bank", "1234", .passcode, by: Person(passcodes: [Self.right]))
    // Temporary tables are the editor's own, so the schema stays as it is.
    let editor = try DatabaseQueue(path: store.path + "/vault.db")
    try await editor.write { db in try db.execute(sql: "CREATE TEMP TABLE earlier AS SELECT * FROM slot") }
    try await Person(passcodes: [Self.right], newPasscode: "new one").with(vault) {
      try await vault.changePasscode(in: $0)
    }
    try await editor.write { db in
      try db.execute(sql: "REPLACE INTO slot SELECT * FROM earlier WHERE name = 'passcode'")
    }
    for passcode in [Self.right, "new one"] {
      await requireDamage { _ = try await vault.get("bank", by: Person(passcodes: [passcode])) }
    }
  }

  @Test("an enrolment set's earlier rows, put back into the database, let no removed finger open items")
  func enrolmentSet() async throws {
    let image = try await ImageReaderStore()
    let vault = try image.store.open(reader: image.process)
    _ = try await image.enroll(.rightIndex, in: vault)
    _ = try await image.enroll(.leftIndex, in: vault)
    try await vault.put("note", "text", .anyFinger)
    let editor = try DatabaseQueue(path: image.store.path + "/vault.db")
    try await editor.write { db in
      try db.execute(sql: "CREATE TEMP TABLE sets AS SELECT * FROM enrolment_set")
      try db.execute(sql: "CREATE TEMP TABLE prints AS SELECT * FROM enrolment")
    }
    _ = try await Person(passcodes: [Self.right]).with(vault) { try await vault.unenroll(.leftIndex, in: $0) }
    try await editor.write { db in
      try db.execute(sql: "REPLACE INTO enrolment_set SELECT * FROM sets")
      try db.execute(sql: "REPLACE INTO enrolment SELECT * FROM prints")
    }
    await requireDamage { _ = try await vault.get("note", by: Person(touches: [image.press(.leftIndex)])) }
  }

  @Test("the passcode is not asked for while a delay after wrong passcodes runs")
  func delay() async throws {
    let store = try await ScratchStore()
    let vault = try store.open()
    try await vault.put("bank", "1234", .passcode, by: Person(passcodes: [Self.right]))
    for _ in 1...6 {
      _ = try? await vault.get("bank", by: Person(passcodes: ["wrong", "wrong", "wrong"]))
    }
    let person = Person(passcodes: [Self.right])
    let refused = await #expect(throws: VaultError.self) { try await vault.get("bank", by: person) }
    guard case .passcodeDelayed? = refused else { return #expect(Bool(false), "\(String(describing: refused))") }
    #expect(!person.events.contains { if case .secretWanted = $0 { true } else { false } })
  }
}
