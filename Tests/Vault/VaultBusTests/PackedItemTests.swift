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

  /// One part: its number, the length of its value in four bytes, and the value.
  private static func part(_ number: UInt8, _ value: [UInt8]) -> [UInt8] {
    [number, 0, 0, UInt8(value.count >> 8), UInt8(value.count & 0xFF)] + value
  }

  /// The fields of `item`, by the layout of the interface's XML.
  private static func fields(_ attributes: [UInt8]) -> [UInt8] {
    let whole: [[UInt8]] = [
      part(1, [1, 2]), part(2, Array("living".utf8)), part(3, Array("keys".utf8)), part(4, attributes),
      part(5, [0, 0, 0, 0, 0, 0, 0, 0]), part(6, Array("when-unlocked".utf8)),
      part(7, [0x3F, 0xF0, 0, 0, 0, 0, 0, 0]), part(8, [0x40, 4, 0, 0, 0, 0, 0, 0]),
    ]
    return Array(whole.joined())
  }

  private static let name = part(0, Array("labl".utf8))
  private static let label = name + part(1, [65])

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

  @Test("an item sent by a vault may have unknown fields after those that are known")
  func newer() async throws {
    let item = try await read(Self.fields(Self.label) + Self.part(99, [7, 7]))
    #expect(item?.attributes == [.label: .text("A")])
  }

  @Test("a damaged item sent by a vault has no class: its field is absent, which is not an empty one")
  func noClass() async throws {
    let whole = Self.fields(Self.label)
    let (before, field) = (Self.part(1, [1, 2]) + Self.part(2, Array("living".utf8)), Self.part(3, Array("keys".utf8)))
    let rest = whole.dropFirst(before.count + field.count)
    #expect(try await read(before + [3, 255, 255, 255, 255] + rest)?.itemClass == nil)
    #expect(try await read(whole)?.itemClass == .key)
    await #expect(throws: VaultError.self) { _ = try await read(before + Self.part(3, []) + rest) }
    await #expect(throws: VaultError.self) { _ = try await read(before + rest) }
  }

  @Test("an item sent by a vault is refused if it is truncated, incomplete, or has a repeated or unknown attribute")
  func malformed() async throws {
    let whole = Self.fields(Self.label)
    for count in 0..<whole.count {
      await #expect(throws: VaultError.self, "\(count) bytes") { _ = try await read(Array(whole[..<count])) }
    }
    var wrong: [[UInt8]] = [Self.fields(Self.label + Self.label), Self.fields(Self.name)]
    wrong.append(Self.fields(Self.name + Self.part(9, [])))
    wrong.append(Self.fields(Self.name + Self.part(1, [0xFF])))
    wrong.append(Self.fields(Self.name + Self.part(3, [1])))
    // A number of nine bytes.
    wrong.append(Self.fields(Self.name + Self.part(3, [UInt8](repeating: 0, count: 9))))
    // Fields of the format before, whose numbers had their least significant byte first.
    wrong.append([1, 2, 0, 0, 0, 1, 2] + whole.dropFirst(7))
    wrong.append(Self.part(2, Array("living".utf8)) + Self.part(1, [1, 2]) + whole.dropFirst(18))
    wrong.append([2, 255, 255, 255, 255])
    wrong.append([2, 255, 255, 255, 254])
    for bytes in wrong { await #expect(throws: VaultError.self) { _ = try await read(bytes) } }
  }
}
