import GRDB
import Primitives
import Testing
import VaultDriver

@testable import Presence
@testable import Vault
@testable import VaultItems
@testable import VaultStore

@Suite("Items without a finger")
struct ItemTests {
  @Test("a secret is returned byte for byte, also an empty one and one with every byte value")
  func roundTrip() async throws {
    let store = try await ScratchStore()
    let vault = try store.open()
    for secret in ["", "s3cret", String(decoding: (0...127).map { UInt8($0) }, as: UTF8.self)] {
      try await vault.put("site/me", secret, replace: true)
      #expect(try await vault.get("site/me") == secret)
    }
    let bytes = (0...255).map { UInt8($0) }
    let item = try await vault.add(
      NewItem(named: try ItemName(parsing: "bytes"), access: .none), secret: SecretBytes(copying: bytes.span), in: nil)
    let released = try await vault.secrets(of: [item.id], reason: nil, in: nil)[0]
    let returned = released.secret.withUnsafeBytes { Array($0) }
    #expect(returned == bytes)
  }

  @Test("a secret of a mebibyte is stored, and one byte more is refused")
  func limit() async throws {
    let store = try await ScratchStore()
    let vault = try store.open()
    try await vault.put("big", String(repeating: "x", count: 1 << 20))
    #expect(try await vault.get("big").count == 1 << 20)
    await #expect(throws: VaultError.secretTooLong(limit: 1 << 20)) {
      try await vault.put("bigger", String(repeating: "x", count: 1 << 20 + 1))
    }
  }

  @Test("an item with an existing name is refused without replace, and the old secret is kept")
  func exists() async throws {
    let store = try await ScratchStore()
    let vault = try store.open()
    try await vault.put("a/b", "old")
    await #expect(throws: VaultError.duplicateItem) {
      try await vault.put("a/b", "new")
    }
    #expect(try await vault.get("a/b") == "old")
    try await vault.put("a/b", "new", replace: true)
    #expect(try await vault.get("a/b") == "new")
  }

  @Test("searches find items by service, name and pattern, in the order of storing, which replacing keeps")
  func searches() async throws {
    let store = try await ScratchStore()
    let vault = try store.open()
    for name in ["mail/b", "mail/a", "git/a", "mail"] { try await vault.put(name, "x") }
    try await vault.put("mail/b", "y", replace: true)
    func names(_ search: ItemSearch) async throws -> [String] {
      try await vault.items(search).map { $0.name?.description ?? "?" }
    }
    #expect(try await names(.everything) == ["mail/b", "mail/a", "git/a", "mail"])
    #expect(try await names(ItemSearch(.genericPassword, [.service: .text("mail")])) == ["mail/b", "mail/a", "mail"])
    #expect(try await names(ItemSearch(named: ItemName(parsing: "git/a"))) == ["git/a"])
    #expect(try await names(ItemSearch(named: ItemName(parsing: "mail"))) == ["mail"], "that without an account")
    #expect(try await names(ItemSearch(pattern: "*/a")) == ["mail/a", "git/a"])
    #expect(try await names(ItemSearch(.genericPassword, [.service: .text("mai")])) == [])
    try await vault.put("a[b]\\c", "x")
    #expect(try await names(ItemSearch(pattern: "a[b]\\*")) == ["a[b]\\c"], "only * and ? are special")
  }

  @Test("dead and damaged items are found on request, and a damaged one by its name")
  func states() async throws {
    let store = try await ScratchStore()
    let vault = try store.open()
    try await vault.put("living", "1")
    try await vault.put("dead", "2", .passcode)
    try await vault.put("damaged/x", "3")
    try await vault.put("damaged/y", "4")
    _ = try await Person(passcodes: [ScratchStore.passcode]).with(vault) { try await vault.removePasscode(in: $0) }
    let damaged = try ItemName(parsing: "damaged/x")
    let id = try await vault.items(ItemSearch(named: damaged))[0].id
    let editor = try DatabaseQueue(path: store.path + "/vault.db")
    try await editor.write { db in
      try db.execute(sql: "UPDATE item SET attributes = x'00' WHERE id = ?", arguments: [id.bytes.data])
    }
    func states(_ search: ItemSearch) async throws -> [Item.State] { try await vault.items(search).map(\.state) }
    let all = Set(Item.State.allCases)
    #expect(try await states(.everything) == [.living, .dead, .damaged, .living])
    #expect(try await vault.status().items == 4, "status counts what is listed")
    #expect(try await states(ItemSearch()) == [.living, .living])
    #expect(try await states(ItemSearch(states: [.dead])) == [.dead])
    #expect(try await states(ItemSearch(named: damaged)) == [.damaged])
    #expect(try await states(ItemSearch(ids: [id], states: all)) == [.damaged])
    #expect(try await states(ItemSearch(ids: [id])) == [])
    let found = try await vault.items(ItemSearch(named: damaged))[0]
    #expect(found.id == id && found.name == nil && found.itemClass == nil && found.attributes.isEmpty)
    // Its attributes are unknown, so these searches do not find it.
    #expect(try await states(ItemSearch(.genericPassword, [.service: .text("damaged")], states: all)) == [.living])
    #expect(try await states(ItemSearch(synchronizable: .any, pattern: "*", states: all)) == [.living, .dead, .living])
    #expect(try await vault.integrityProblems().count == 1)
    try await vault.delete([id])
    #expect(try await states(.everything) == [.living, .dead, .living])
  }

  @Test("item names are UTF-8 up to 255 bytes a part, without control characters, split at the first slash")
  func names() throws {
    #expect(try ItemName(parsing: "a/b/c").account == "b/c")
    #expect(try ItemName(parsing: "a").account == "")
    #expect(try ItemName(parsing: "käse/Ω").description == "käse/Ω")
    _ = try ItemName(service: String(repeating: "x", count: 255))
    for bad in ["", "/a", "a\nb", "a/\u{7}", "a\u{85}", String(repeating: "ä", count: 128)] {
      #expect(throws: VaultError.self, "\(bad.debugDescription)") { try ItemName(parsing: bad) }
    }
  }

  @Test("an item with an application password opens with it only")
  func applicationPassword() async throws {
    let store = try await ScratchStore()
    let vault = try store.open()
    let name = try ItemName(parsing: "app")
    _ = try await Person(applicationPassword: "open sesame").with(vault) { handle in
      try await vault.add(
        NewItem(named: name, access: AccessControl(.none, applicationPassword: true)),
        secret: SecretBytes(text: "treasure"), in: handle)
    }
    #expect(try await vault.get("app", by: Person(applicationPassword: "open sesame")) == "treasure")
    await #expect(throws: VaultError.wrongApplicationPassword) {
      try await vault.get("app", by: Person(applicationPassword: "open barley"))
    }
    await #expect(throws: VaultError.interactionNotAllowed) {
      try await vault.get("app", ContextOptions(interactionNotAllowed: true))
    }
  }

  @Test("many programs with one store at once all finish, and nothing is lost")
  func concurrency() async throws {
    let store = try await ScratchStore()
    try await withThrowingTaskGroup(of: Void.self) { group in
      for program in 0..<20 {
        group.addTask {
          let vault = try store.open()
          for item in 0..<10 {
            try await vault.put("p\(program)/\(item)", "\(program).\(item)")
            #expect(try await vault.get("p\(program)/\(item)") == "\(program).\(item)")
          }
        }
      }
      try await group.waitForAll()
    }
    let vault = try store.open()
    #expect(try await vault.items(.everything).count == 200)
    #expect(try await vault.integrityProblems() == [])
  }

  @Test("a read of open items leaves out one that never leaves the vault")
  func openItems() async throws {
    let store = try await ScratchStore()
    let session = VaultSession(of: try store.open())
    for (name, flags) in [("a", AccessControl.Flags.privateKeyUsage), ("b", [])] {
      let item = NewItem(named: try ItemName(parsing: name), access: AccessControl(unchecked: flags))
      _ = try await session.add(item, secret: SecretBytes(text: "secret of \(name)"), replacing: false, .nobody)
    }
    let names = try ["a", "b"].map { try ItemName(parsing: $0) }
    let released = try await session.secrets(.open(names, group: AccessGroup.commandLine), .nobody)
    #expect(released.map(\.text) == ["secret of b"])
  }

  @Test("a read of open items leaves out one that died with the passcode")
  func endedItems() async throws {
    let store = try await ScratchStore()
    let vault = try store.open()
    try await vault.put("a", "secret of a", accessibility: .passcodeSet)
    try await vault.put("b", "secret of b")
    _ = try await Person(passcodes: [ScratchStore.passcode]).with(vault) { try await vault.removePasscode(in: $0) }
    let names = try ["a", "b"].map { try ItemName(parsing: $0) }
    let released = try await VaultSession(of: vault).secrets(.open(names, group: AccessGroup.commandLine), .nobody)
    #expect(released.map(\.text) == ["secret of b"])
  }
}
