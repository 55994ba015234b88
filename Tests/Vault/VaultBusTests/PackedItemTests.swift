import SDBus
import SecretModel
import Testing
import VaultBus

@Suite("An item sent by a vault")
struct PackedItemTests {
  private static let item = Item(
    id: ItemID(bytes: [1, 2]), state: .living, itemClass: .key,
    attributes: [
      .label: .text("\u{FFFE}"), .applicationTag: .bytes([0, 255]), .keySizeInBits: .number(-256),
      .startDate: .date(-0.5),
    ], access: .none, accessibility: .whenUnlocked, created: 1, modified: 2.5)

  /// The fields of `item`, by the layout of the interface's XML.
  private static func fields(_ attributes: [UInt8]) -> [UInt8] {
    let whole: [[UInt8]] = [
      [1, 2, 0, 0, 0, 1, 2], [2, 6, 0, 0, 0] + Array("living".utf8), [3, 4, 0, 0, 0] + Array("keys".utf8),
      [4, UInt8(attributes.count), 0, 0, 0] + attributes, [5, 8, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0],
      [6, 13, 0, 0, 0] + Array("when-unlocked".utf8), [7, 8, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xF0, 0x3F],
      [8, 8, 0, 0, 0, 0, 0, 0, 0, 0, 0, 4, 0x40],
    ]
    return Array(whole.joined())
  }

  private static let label: [UInt8] = [4, 0, 0, 0] + Array("labl".utf8) + [1, 1, 0, 0, 0, 65]

  private func read(_ bytes: [UInt8]) async throws -> Item? {
    let raw = try RawVault { $0.answer([.array(of: "ay", [.bytes(bytes)]), .bytes([])]) }
    return try await raw.open().items(ItemSearch(), .nobody).items.first
  }

  @Test("an item sent by a vault is received unchanged")
  func wholeWay() async throws {
    let stub = StubVault(.init(items: { _ in ItemPage(items: [Self.item], next: nil) }))
    let vault = try await Way.overSocket.connect(to: stub).open(StorePlace(directory: "/"))
    #expect(try await vault.items(ItemSearch(), .nobody).items == [Self.item])
  }

  @Test("an item sent by a vault has the layout that the interface documents")
  func layout() async throws {
    let stub = StubVault(
      .init(items: { _ in
        let labelled = Item(
          id: Self.item.id, state: .living, itemClass: .key, attributes: [.label: .text("A")], access: .none,
          accessibility: .whenUnlocked, created: 1, modified: 2.5)
        return ItemPage(items: [labelled], next: nil)
      }))
    let client = try RawClient(to: stub)
    try await client.open()
    let search: [String: BusValue] = [
      "every-group": .boolean(true), "attributes": .array(of: "(ay(sv))", []), "synchronizable": .string("no"),
      "ignores-case": .boolean(false), "states": .array(of: "s", []), "interaction": .string("allow"),
    ]
    let answer = try await client.call("Items", [.dictionary(search), .dictionary([:])])
    #expect(answer == [.array(of: "ay", [.bytes(Self.fields(Self.label))]), .bytes([])])
  }

  @Test("an item sent by a vault may have unknown fields")
  func newer() async throws {
    let item = try await read([99, 2, 0, 0, 0, 7, 7] + Self.fields(Self.label))
    #expect(item?.attributes == [.label: .text("A")])
  }

  @Test("an item sent by a vault is refused if it is truncated, incomplete, or has a repeated or unknown attribute")
  func malformed() async throws {
    let whole = Self.fields(Self.label)
    for count in 0..<whole.count {
      await #expect(throws: VaultError.self, "\(count) bytes") { _ = try await read(Array(whole[..<count])) }
    }
    var wrong: [[UInt8]] = [Self.fields(Self.label + Self.label)]
    wrong.append(Self.fields([4, 0, 0, 0] + Array("labl".utf8) + [9, 0, 0, 0, 0]))
    wrong.append(Self.fields([4, 0, 0, 0] + Array("labl".utf8) + [1, 1, 0, 0, 0, 0xFF]))
    wrong.append(Self.fields([4, 0, 0, 0] + Array("labl".utf8) + [3, 1, 0, 0, 0, 1]))
    // A number of nine bytes.
    wrong.append(Self.fields([4, 0, 0, 0] + Array("labl".utf8) + [3, 9, 0, 0, 0] + [UInt8](repeating: 0, count: 9)))
    wrong.append([2, 255, 255, 255, 255])
    for bytes in wrong { await #expect(throws: VaultError.self) { _ = try await read(bytes) } }
  }
}
