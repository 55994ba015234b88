import Keys
import Primitives
import SecretModel
import Testing
import VaultDriver

@testable import Presence
@testable import Vault
@testable import VaultItems
@testable import VaultStore
@testable import VaultSync

extension Vault {
  /// Puts the store into a circle of the first format, in which a version of an item was kept.
  fileprivate func enterEarlierCircle(
    keeping secret: String, of name: String, _ rule: AccessControl.Constraint = .none
  ) throws {
    var item = NewItem(named: try ItemName(parsing: name), access: AccessControl(rule))
    item.attributes[.synchronizable] = .number(1)
    let keys = try MemberKeys.make()
    let id = try #require(MemberID(String(repeating: "a", count: 32)))
    let head = Revision.Head(
      clock: LogicalClock(0, 1), created: 0, item: DescribedItem(item, secret: secret.utf8.count), modified: 0,
      seen: [id.description: LogicalClock(0, 1)])
    let signed = try SignedLine(head, .item, by: keys, as: id)
    let contents = signed.bytes + Array(secret.utf8)
    let file = try AgeMessage.seal(
      SecretBytes(copying: contents.span), to: [keys.encryption.publicKey], epoch: 1)
    let kept = RecordRow.Head(
      state: .kept, clock: LogicalClock(0, 1), seen: head.seen, writer: id.description,
      version: JSONBytes(signed.digest), isItem: true,
      service: name, account: "", modified: 0)
    try presence.passcodes.store.commit { change in
      let secrets = SecretBytes(
        joining: [], keys.bytes, [UInt8](repeating: 0, count: 64))
      let record = try sealRecord(
        Array(#"{"machine":"desk","published":1,"records":[]}"#.utf8), key: change.store.keys.derive("circle"),
        aad: Array("circle".utf8))
      try change.put(
        Slot(
          .circle, wrapping: secrets, under: change.store.keys.root, databaseID: change.store.keys.databaseID,
          parameters: record))
      try RecordRow(name: [UInt8](repeating: 7, count: 32), head: kept, file: file, epoch: 1).write(change)
    }
  }
}

@Suite("Circles of the first format")
struct EarlierCircleTests {
  @Test(
    "a circle of the first format shares nothing, can be left, and is replaced by a new one that keeps its conflicts")
  func replaced() async throws {
    let repository = MemoryRepository()
    let desk = try await SyncMachine("desk")
    try await desk.set("mail", "gold")
    try await desk.vault.enterEarlierCircle(keeping: "silver", of: "mail")
    #expect(try await desk.status.standing == .outdated)
    try await desk.set("bank", "iron")
    await #expect(throws: VaultError.self) { try await desk.session.sync.files(after: nil, puttingBack: false) }
    try await desk.begin()
    try await desk.sync(repository)
    #expect(try await desk.items == ["mail": "gold", "bank": "iron"])
    let all = try await desk.session.allItems(ItemSearch(groups: .all, synchronizable: .no)).compactMap(\.title)
    let other = try #require(all.first { $0.contains("other version") })
    #expect(try await desk.get(other) == "silver")
  }

  @Test("a version that a circle of the first format has kept under the fingers needs the passcode afterwards")
  func bound() async throws {
    let desk = try await SyncMachine("desk")
    try await desk.vault.enterEarlierCircle(keeping: "silver", of: "mail", .currentSet)
    try await desk.begin()
    let items = try await desk.session.allItems(ItemSearch(groups: .all, synchronizable: .no))
    let other = try #require(items.first { $0.title?.contains("other version") ?? false })
    #expect(other.access == AccessControl(.passcode))
    let title = try #require(other.title)
    #expect(try await desk.get(title) == "silver")
  }

  @Test("a circle of the first format can be left without a proof")
  func left() async throws {
    let desk = try await SyncMachine("desk")
    try await desk.vault.enterEarlierCircle(keeping: "silver", of: "mail")
    try await desk.session.sync.change(.leave, .nobody)
    #expect(try await desk.status.standing == .none)
  }
}
