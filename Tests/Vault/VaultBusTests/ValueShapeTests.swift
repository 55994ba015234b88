import Primitives
import SDBus
import SecretModel
import Testing
import VaultDriver

@testable import VaultBus

/// The bus checks the signature of a whole call, but not of what is in a record: that may have any type.
@Suite("Values of the vault's interface with another shape")
struct ValueShapeTests {
  private static func refuses<Value: BusCodable>(_ value: Value) throws {
    let parts = try #require(value.busValue.asStructure)
    for count in 0..<parts.count {
      #expect(throws: (any Error).self, "\(count)") { try Value(bus: .structure(Array(parts.prefix(count)))) }
    }
    #expect(throws: (any Error).self) { try Value(bus: .structure(parts + [.int64(1)])) }
  }

  @Test("a structure with fewer or more members than its type is refused")
  func structures() throws {
    try Self.refuses(RefusedItem(place: 1, error: .cancelled))
    try Self.refuses(ItemName(unchecked: "mail", account: "alice"))
    try Self.refuses(AttributeValue.text("a"))
    try Self.refuses(FprintdPlace(bus: "unix:path=/bus", templates: "/prints"))
    try Self.refuses(ReaderError.cancelled)
    try Self.refuses(VaultError.cancelled)
    try Self.refuses(EnrolledFinger(finger: .leftThumb, onChip: true, enrolled: 1))
    let id = try #require(MemberID(String(repeating: "0a", count: MemberID.byteCount)))
    try Self.refuses(SyncMember(id: id, name: "desk", isThisMachine: true, words: ["acorn"]))
    let name = ItemName(unchecked: "mail", account: "alice")
    try Self.refuses(SyncStatus.Waiting(item: name, reason: .touch))
    try Self.refuses(SyncStatus.Kept(id: "a", item: name, writer: "desk", written: 1))
    try Self.refuses(SyncReceipt.Refusal(path: "a", reason: "b"))
    for parts: [BusValue] in [[], [name.busValue], [.bytes([]), [name].busValue, .int64(1)]] {
      #expect(throws: (any Error).self) { try ItemSelection(bus: .dictionary(["open": .structure(parts)])) }
    }
  }

  @Test("an entry of a list of attributes is a name and a value")
  func attributes() throws {
    let entries = try #require(Attributes([.label: .text("A")]).busValue.asArray)
    let parts = try #require(entries.first?.asStructure)
    #expect(try Attributes(bus: .array(of: "(ay(sv))", entries)).values == [.label: .text("A")])
    for parts in [[], [parts[0]], parts + [parts[0]]] {
      #expect(throws: (any Error).self) { try Attributes(bus: .array(of: "v", [.structure(parts)])) }
    }
  }

  @Test("a new item is its fields and the place of its secret")
  func newItems() throws {
    let whole = try ItemsToAdd([
      ItemToAdd(NewItem(.key, [.label: .text("A")]), secret: SharedSecret(SecretBytes(text: "gold")))
    ]).busValues()
    let parts = try #require(whole[0].asArray?.first?.asStructure)
    #expect(try ItemsToAdd(bus: whole).items.count == 1)
    for parts in [[], [parts[0]], Array(parts.prefix(2)), parts + [parts[2]]] {
      #expect(throws: (any Error).self) { try ItemsToAdd(bus: [.array(of: "v", [.structure(parts)]), whole[1]]) }
    }
  }

  @Test("released secrets are entries of three members and one file, or nothing")
  func releasedItems() throws {
    let item = Item(
      id: ItemID(bytes: [1]), state: .living, itemClass: .key, attributes: [:], access: .none,
      accessibility: .whenUnlocked, created: 1, modified: 1)
    let whole = try ReleasedItems([ReleasedItem(item, secret: SecretBytes(text: "gold"))]).busValues()
    let (parts, files) = (try #require(whole[0].asArray?.first?.asStructure), try #require(whole[1].asArray))
    #expect(try ReleasedItems(bus: whole).items.count == 1)
    for parts in [[], [parts[0]], Array(parts.prefix(2)), parts + [parts[2]]] {
      #expect(throws: (any Error).self) { try ReleasedItems(bus: [.array(of: "v", [.structure(parts)]), whole[1]]) }
    }
    #expect(throws: (any Error).self) { try ReleasedItems(bus: [whole[0], .array(of: "h", files + files)]) }
    #expect(try ReleasedItems([]).busValues()[1].asArray?.isEmpty == true)
  }

  @Test("a repository's files are a limited number of paths with their own bytes, each of limited size")
  func syncFiles() throws {
    let contents = BusValue.descriptor(
      BusDescriptor(taking: try SealedFile.make(of: SecretBytes(count: SyncFile.sizeLimit + 1)).release()))
    func read(_ entries: [[BusValue]]) throws -> [SyncFile] {
      try SyncFilesOnBus(bus: [.array(of: "(sxx)", entries.map { .structure($0) }), contents]).files
    }
    func entry(_ count: Int, _ offset: Int = 0) -> [BusValue] { [.string("a"), offset.busValue, count.busValue] }
    #expect(try read([entry(SyncFile.sizeLimit), entry(0, -1)]).map(\.contents?.count) == [SyncFile.sizeLimit, nil])
    #expect(throws: (any Error).self) { try read([entry(SyncFile.sizeLimit + 1)]) }
    #expect(throws: (any Error).self) { try read([entry(SyncFile.sizeLimit), entry(2)]) }
    for parts in [[], [entry(1)[0]], Array(entry(1).prefix(2)), entry(1) + [.int64(1)]] {
      #expect(throws: (any Error).self) { try read([parts]) }
    }
    #expect(try read([[BusValue]](repeating: entry(0, -1), count: 20_000)).count == 20_000)
    #expect(throws: (any Error).self) { try read([[BusValue]](repeating: entry(0, -1), count: 20_001)) }
  }

  @Test("a proof is one policy or one access rule, and a search has one choice of groups")
  func alternatives() throws {
    #expect(throws: BusValueError.unreadable(Proof.self)) {
      try Proof(bus: .dictionary(["policy": .string("biometrics"), "access": AccessControl(.currentSet).busValue]))
    }
    var record = try #require(ItemSearch().busValue.asDictionary)
    record["every-group"] = .boolean(true)
    #expect(try ItemSearch(bus: .dictionary(record)).groups == .all)
    record["groups"] = [String]().busValue
    #expect(throws: (any Error).self) { try ItemSearch(bus: .dictionary(record)) }
  }

  @Test("an event has a context, a number, a word and a record")
  func events() throws {
    let whole: [BusValue] = [.bytes([1]), .int64(1), .string("matched"), .dictionary([:])]
    #expect(BusEvent(whole) != nil)
    for count in 0..<4 { #expect(BusEvent(Array(whole.prefix(count))) == nil) }
    #expect(BusEvent(whole + [.int64(1)]) == nil)
    #expect(BusEvent(Array(whole.prefix(3)) + [.string("record")]) == nil)
  }

  @Test("an answer that is smaller than its secrets were keeps the memory that these took")
  func unreadAnswer() throws {
    let budget = MemoryBudget(limit: 100_000)
    let unread = UnreadAnswer(budget)
    try unread.take(forSecrets: 60_000)
    try unread.take(for: [.bytes([UInt8](repeating: 0, count: 20_000))])
    #expect(budget.share(50_000) == nil)
    #expect(budget.share(40_000) != nil)
  }
}
