import Presence
import Primitives
import SecretModel
import Testing
import Vault
import VaultDriver
import VaultItems
import VaultStore

@Suite("A paged search")
struct ItemPageTests {
  let store: ScratchStore
  let session: VaultSession

  init() async throws {
    store = try await ScratchStore()
    let vault = try store.open()
    session = try VaultSession(of: vault, for: Caller(user: vault.owner))
  }

  private func add(_ name: String, group: String = "one", access: AccessControl = .none) async throws -> Item {
    try await session.add(
      NewItem(.genericPassword, [.service: .text(name), .accessGroup: .text(group)], access: access),
      secret: SecretBytes(text: name), replacing: false, .nobody)
  }

  private func services(_ items: [Item]) -> [AttributeValue?] { items.map { $0.attributes[.service] } }

  @Test("a paged search returns at most a thousand items per page, each once, in the order of the groups")
  func pages() async throws {
    for number in 0..<1_100 { _ = try await add("\(number)", group: number < 1_050 ? "one" : "two") }
    _ = try await add("last", group: "one")
    var search = ItemSearch(.genericPassword, groups: .named(["two", "one"]))
    let first = try await session.items(search, .nobody)
    #expect(first.items.count == 1_000)
    let next: ItemCursor = try #require(first.next)
    search.after = next
    let second = try await session.items(search, .nobody)
    #expect(second.next == nil)
    let wanted = (1_050..<1_100).map { "\($0)" } + (0..<1_050).map { "\($0)" } + ["last"]
    #expect(services(first.items + second.items) == wanted.map { .text($0) })
    #expect(try await session.allItems(ItemSearch(.genericPassword, groups: .all)).count == 1_101)
    // The limit ends the search before the page is full.
    let limited = try await session.items(ItemSearch(.genericPassword, groups: .all, limit: 7), .nobody)
    #expect(limited.items.count == 7)
    #expect(limited.next == nil)
    #expect(try await session.allItems(ItemSearch(groups: .all, limit: 1_001)).count == 1_001)
  }

  @Test("a paged search ends a page early where the items' attributes are long")
  func longAttributes() async throws {
    for number in 0..<100 {
      _ = try await session.add(
        NewItem(
          .genericPassword, [.service: .text("\(number)"), .label: .bytes([UInt8](repeating: 1, count: 60_000))]),
        secret: SecretBytes(text: ""), replacing: false, .nobody)
    }
    let page = try await session.items(ItemSearch(.genericPassword), .nobody)
    #expect(page.items.count < 100)
    #expect(page.next != nil)
    #expect(try await session.allItems(ItemSearch(.genericPassword)).count == 100)
  }

  @Test("a paged search refuses a forged cursor, and a cursor for another order")
  func forgedCursors() async throws {
    for number in 0..<1_001 { _ = try await add("\(number)") }
    var search = ItemSearch(.genericPassword, groups: .named(["one", "two"]))
    let cursor = try #require(try await session.items(search, .nobody).next)
    search.after = cursor
    #expect(try await session.items(search, .nobody).items.count == 1)
    var forged = [[UInt8](), [UInt8](repeating: 0, count: cursor.bytes.count), Array(cursor.bytes.dropLast())]
    for index in cursor.bytes.indices {
      var bytes = cursor.bytes
      bytes[index] ^= 1
      forged.append(bytes)
    }
    for bytes in forged {
      search.after = ItemCursor(bytes: bytes)
      await #expect(throws: VaultError.self) { _ = try await session.items(search, .nobody) }
    }
    search.after = cursor
    search.groups = .named(["two", "one"])
    await #expect(throws: VaultError.self) { _ = try await session.items(search, .nobody) }
  }

  @Test("an item search finds items by creation or modification time, to the millisecond")
  func dates() async throws {
    let first = try await add("first")
    try await Task.sleep(for: .milliseconds(5))
    let second = try await add("second")
    var search = ItemSearch(.genericPassword, groups: .all)
    search.created = first.created
    #expect(try await services(session.items(search, .nobody).items) == [.text("first")])
    _ = try await session.update(.ids([first.id]), ItemChange(), secret: SecretBytes(text: "new"), .nobody)
    search.modified = first.modified
    #expect(try await session.items(search, .nobody).items.isEmpty)
    search.created = nil
    search.modified = second.modified
    #expect(try await services(session.items(search, .nobody).items) == [.text("second")])
    #expect(try await session.secrets(.search(search), .nobody).map(\.text) == ["second"])
    #expect(try await session.delete(.search(search)) == 1)
    #expect(try await services(session.allItems(ItemSearch(groups: .all))) == [.text("first")])
  }

  @Test("an item search skips items that need a prompt or fails, as requested, and its limit counts no skipped item")
  func interaction() async throws {
    _ = try await add("open")
    _ = try await add("closed", access: AccessControl(.passcode))
    _ = try await add("open too")
    var search = ItemSearch(.genericPassword, groups: .all, limit: 2)
    #expect(try await services(session.items(search, .nobody).items) == [.text("open"), .text("closed")])
    search.interaction = .skip
    #expect(try await services(session.items(search, .nobody).items) == [.text("open"), .text("open too")])
    #expect(try await session.secrets(.search(search), .nobody).map(\.text) == ["open", "open too"])
    search.interaction = .fail
    await #expect(throws: VaultError.interactionNotAllowed) { _ = try await session.items(search, .nobody) }
    await #expect(throws: VaultError.interactionNotAllowed) { _ = try await session.secrets(.search(search), .nobody) }
    // Items beyond the limit do not matter.
    search.limit = 1
    #expect(try await services(session.items(search, .nobody).items) == [.text("open")])
    // A context in which the passcode was given does not ask again.
    search.limit = nil
    let failing = search
    let found = try await Person(passcodes: [ScratchStore.passcode]).with(session, .keepingEvidence(.atOnce)) {
      _ = try await session.evaluate(.access(AccessControl(.passcode)), Asking(in: $0))
      return try await session.items(failing, Asking(in: $0)).items.count
    }
    #expect(found == 3)
  }
}
