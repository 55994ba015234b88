import Presence
import Primitives
import SecretModel
import Testing
import Vault
import VaultBus
import VaultDriver
import VaultItems
import VaultStore

@Suite("Many items in one call, in process and over a socket")
struct ManyItemsContractTests {
  private static func item(
    _ name: String, _ secret: String, _ access: AccessControl = .none, _ accessibility: Accessibility = .whenUnlocked
  ) throws -> ItemToAdd {
    ItemToAdd(
      NewItem(named: try ItemName(parsing: name), access: access, accessibility: accessibility),
      secret: SharedSecret(SecretBytes(text: secret)))
  }

  @Test(
    "many items in one call are stored with attributes, rules and secrets, and refused items are listed",
    arguments: Way.allCases)
  func add(_ way: Way) async throws {
    let open = try await OpenScratch(way)
    var plain = try Self.item("plain/a", "of plain")
    plain.item.attributes[.label] = .text("a label")
    plain.item.attributes[AttributeName(rawValue: "own")] = .bytes([0, 255])
    let refused = try await open.vault.add([
      plain, try Self.item("plain/a", "another"), try Self.item("finger", "x", AccessControl(.currentSet)),
      try Self.item("passcode", "of passcode", AccessControl(.passcode), .passcodeSet),
      try Self.item("password", "x", AccessControl([.userPresence, .applicationPassword])),
      ItemToAdd(
        NewItem(named: try ItemName(parsing: "long"), access: .none),
        secret: SharedSecret(SecretBytes(count: NewItem.secretLimit + 1))),
      try Self.item("last", ""),
    ])
    #expect(
      refused == [
        RefusedItem(place: 1, error: .duplicateItem), RefusedItem(place: 2, error: .notEnrolled),
        RefusedItem(place: 4, error: .interactionNotAllowed),
        RefusedItem(place: 5, error: .secretTooLong(limit: NewItem.secretLimit)),
      ])
    let items = try await open.vault.allItems(.everything)
    #expect(items.compactMap { $0.name?.description } == ["plain/a", "passcode", "last"])
    #expect(items[0].attributes[.label] == .text("a label"))
    #expect(items[0].attributes[AttributeName(rawValue: "own")] == .bytes([0, 255]))
    #expect(items[1].access == AccessControl(.passcode) && items[1].accessibility == .passcodeSet)
    let released = try await open.vault.secrets(.ids([items[0].id, items[2].id]), .nobody)
    #expect(released.map(\.text) == ["of plain", ""])
    let asked = try await open.asking(answering: OpenScratch.passcode) { asking in
      try await open.vault.secrets(.ids([items[1].id]), asking).map(\.text)
    }
    #expect(asked == ["of passcode"])
    // The second time nothing is stored twice, and existing items are unchanged.
    let again = try await open.vault.add([try Self.item("plain/a", "later"), try Self.item("last", "later")])
    #expect(again.map(\.error) == [.duplicateItem, .duplicateItem])
    #expect(try await open.vault.secrets(.ids([items[0].id]), .nobody).map(\.text) == ["of plain"])
    await open.connection.close()
  }

  @Test("a call with too many or too large items is refused, and stores nothing", arguments: [Way.overSocket])
  func limits(_ way: Way) async throws {
    let open = try await OpenScratch(way)
    let many = try (0...ItemToAdd.limit).map { try Self.item("item \($0)", "x") }
    await #expect(throws: VaultError.invalidRequest("at most \(ItemToAdd.limit) items are stored at a time")) {
      _ = try await open.vault.add(many)
    }
    let large = try (0...8).map { number in
      ItemToAdd(
        NewItem(named: try ItemName(parsing: "large \(number)"), access: .none),
        secret: SharedSecret(SecretBytes(count: NewItem.secretLimit)))
    }
    await #expect(throws: VaultError.secretTooLong(limit: ItemToAdd.sizeLimit)) { _ = try await open.vault.add(large) }
    #expect(try await open.vault.allItems(.everything).isEmpty)
    await open.connection.close()
  }

  @Test("a read of more than 256 MiB of secrets is refused, even if items repeat", arguments: Way.allCases)
  func releaseLimit(_ way: Way) async throws {
    let open = try await OpenScratch(way)
    let large = ItemToAdd(
      NewItem(named: try ItemName(parsing: "large"), access: .none),
      secret: SharedSecret(SecretBytes(count: NewItem.secretLimit)))
    #expect(try await open.vault.add([large]).isEmpty)
    let id = try #require(try await open.vault.allItems(.everything).first?.id)
    await #expect(throws: VaultError.invalidRequest("the secrets have more than 256 MiB together")) {
      try await open.vault.secrets(.ids(Array(repeating: id, count: 257)), .nobody)
    }
    await open.connection.close()
  }

  @Test("a read of secrets up to a size releases the first that fit, and at least one", arguments: Way.allCases)
  func release(_ way: Way) async throws {
    let open = try await OpenScratch(way)
    let secrets = (0..<5).map { String(repeating: "\($0)", count: 1_000) }
    #expect(try await open.vault.add(secrets.enumerated().map { try Self.item("item \($0)", $1) }).isEmpty)
    let ids = try await open.vault.allItems(.everything).map(\.id)
    func count(_ size: Int) async throws -> Int {
      let released = try await open.vault.secrets(of: ids, upTo: size, .nobody)
      #expect(released.map(\.text) == Array(secrets.prefix(released.count)))
      return released.count
    }
    #expect(try await count(0) == 1)
    #expect(try await count(2_500) == 2)
    #expect(try await count(1 << 20) == 5)
    await #expect(throws: VaultError.invalidRequest("secrets of -1 bytes cannot be read")) { try await count(-1) }
    for size in [Int.min, -2] {
      await #expect {
        try await count(size)
      } throws: { error in
        if case VaultError.invalidRequest = error { true } else { false }
      }
    }
    #expect(try await open.vault.secrets(of: [], upTo: 100, .nobody).isEmpty)
    await #expect(throws: VaultError.itemGone) {
      _ = try await open.vault.secrets(of: [ItemID(bytes: [1])], upTo: 100, .nobody)
    }
    await open.connection.close()
  }
}
