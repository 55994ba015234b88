import Keys
import Moving
import Presence
import Primitives
import SecretModel
import Testing
import Vault
import VaultDriver
import VaultItems
import VaultStore
import VirtualFinger

@Suite("Copying a private store into the service")
struct MigrationTests {
  private let image: ImageReaderStore
  private let vault: Vault
  private let old: VaultSession
  private let service: RunningService
  private let connection: any VaultConnection
  private let new: any VaultService

  init() async throws {
    image = try await ImageReaderStore()
    vault = try image.store.open(reader: image.process)
    old = VaultSession(of: vault)
    service = try RunningService()
    try await service.makeStore()
    connection = try service.connect()
    new = try await connection.open(.own)
  }

  private func end() async throws {
    await connection.close()
    try await service.end()
    await vault.shutdown()
  }

  private func add(
    _ name: String, _ access: AccessControl = .none, _ accessibility: Accessibility = .afterFirstUnlock
  ) async throws -> Item {
    try await old.add(
      NewItem(named: ItemName(parsing: name), access: access, accessibility: accessibility),
      secret: SecretBytes(text: "secret of \(name)"), replacing: false, .nobody)
  }

  private func move(
    by person: Person = Person(), accessibility: @escaping @Sendable (Item) -> Accessibility = { $0.accessibility }
  ) async throws -> MigrationOutcome {
    let migration = Migration(from: old, to: new)
    let plan = try await migration.plan()
    return try await person.with(old, .keepingEvidence(.never)) {
      try await migration.move(plan, Asking(in: $0), accessibility: accessibility)
    }
  }

  private func enroll(in store: any VaultService, _ socket: String, _ passcode: String) async throws {
    let touches = (1...6).map { impression -> @Sendable () async throws -> Void in
      {
        // The service arms the reader a moment after the prompt was reported as shown.
        try await Task.sleep(for: .milliseconds(400))
        try VirtualImageReader(socket: socket).press(
          SyntheticFinger(person: 1, finger: .rightIndex).impression(UInt64(impression)))
      }
    }
    let person = Person(passcodes: [passcode], touches: touches)
    _ = try await person.with(store) { try await store.enroll(.rightIndex, Asking(in: $0)) }
  }

  @Test("a migration copies secrets, attributes, rules and classes once, and removes nothing from the old store")
  func copies() async throws {
    let silent = try await (0..<70).map { $0 }.asyncMap { try await add("note/\($0)") }
    let label = NewItem(
      .internetPassword,
      [
        .server: .text("example.org"), .account: .text("alice"), .label: .text("Mail"),
        .accessGroup: .text("org.example"),
      ],
      access: AccessControl(.passcode), accessibility: .passcodeSet)
    let mail = try await old.add(label, secret: SecretBytes(text: "of example.org"), replacing: false, .nobody)
    _ = try await add("bank/alice", AccessControl(.passcode))
    let person = Person(passcodes: [ScratchStore.passcode])
    let outcome = try await move(by: person)
    #expect(outcome.moved.count == 72 && outcome.staying.isEmpty && outcome.alreadyThere.isEmpty)
    #expect(person.passcodesAsked == 1, "one passcode for all items")
    let copies = try await new.allItems(.everything)
    #expect(copies.count == 72)
    let copy = try #require(copies.first { $0.itemClass == .internetPassword })
    #expect(copy.attributes == mail.attributes)
    #expect(copy.access == mail.access && copy.accessibility == .passcodeSet)
    let names = silent.compactMap(\.name)
    #expect(try await new.secrets(.names(names), .nobody).map(\.text) == names.map { "secret of \($0)" })
    let owner = Person(passcodes: [RunningService.passcode])
    let text = try await owner.with(new) { try await new.secrets(.ids([copy.id]), Asking(in: $0))[0].text }
    #expect(text == "of example.org", "under the passcode of the new store")
    #expect(try await old.status().items == 72)

    let again = try await move()
    #expect(again.moved.isEmpty && again.alreadyThere.count == 72)
    #expect(try await new.status().items == 72)
    #expect(try await Migration(from: old, to: new).plan().isDone)
    // An item that was changed in the service since is still the same item.
    _ = try await new.update(
      .names([names[0]]), ItemChange(attributes: [.label: .text("mine")]), secret: nil, .nobody)
    let third = try await move()
    #expect(third.moved.isEmpty && third.alreadyThere.count == 72)
    #expect(try await new.status().items == 72)
    try await end()
  }

  /// A passkey of another store, in the old one.
  private func addPasskey() async throws -> Item {
    let user = Passkey.User(handle: [1], name: "alice", displayName: "")
    let passkey = NewPasskey(
      relyingParty: "example.com", user: user, algorithm: .ed25519, isDiscoverable: true,
      clientDataHash: [UInt8](repeating: 0, count: 32))
    let moving = MovingPasskey(
      secretKey: SharedSecret(try Random.key()), key: SharedSecret(try PrivateKey.generate(.ed25519).pkcs8()))
    return try await old.addKey(
      NewItem(.passkey, passkey.attributes(credentialID: [1], publicKey: []), access: AccessControl(.anyFinger)),
      from: .passkey(SharedSecret(moving.bytes)))
  }

  @Test("a migration lists what cannot be copied and why, and is incomplete until those items are gone")
  func stays() async throws {
    _ = try await add("note/alice")
    let key = try AccessControl([.privateKeyUsage])
    let never = try await old.add(
      NewItem(.key, [.keyType: .text("73"), .keyClass: .text("1"), .label: .text("signer")], access: key),
      secret: SecretBytes(copying: [UInt8](repeating: 1, count: 97).span), replacing: false, .nobody)
    let password = try await Person(applicationPassword: "own").with(old) { handle in
      try await old.add(
        NewItem(named: ItemName(parsing: "own/alice"), access: AccessControl(.none, applicationPassword: true)),
        secret: SecretBytes(text: "s"), replacing: false, Asking(in: handle))
    }
    try await enroll(in: old, image.socket, ScratchStore.passcode)
    let bound = try await add("bound/alice", AccessControl(.currentSet))
    let passkey = try await addPasskey()
    let migration = Migration(from: old, to: new)
    var plan = try await migration.plan()
    #expect(plan.movable.compactMap(\.name?.description) == ["note/alice"])
    let obstacles: [ItemID: MoveObstacle] = plan.staying.reduce(into: [:]) { $0[$1.item.id] = $1.obstacle }
    #expect(
      obstacles == [
        never.id: .neverLeaves, password.id: .applicationPassword, bound.id: .noFinger, passkey.id: .noFinger,
      ])
    _ = try await old.delete(.ids([passkey.id]))
    _ = try await Person(passcodes: [ScratchStore.passcode]).with(old) {
      try await old.unenroll(.rightIndex, Asking(in: $0))
    }
    plan = try await migration.plan()
    #expect(plan.staying.first { $0.item.id == bound.id }?.obstacle == .dead)
    #expect(try await move().moved.count == 1)
    #expect(try await !migration.plan().isDone)
    #expect(try await old.delete(.ids([never.id, password.id])) == 2)
    #expect(try await migration.plan().isDone, "what nobody can read does not stand in the way")
    try await end()
  }

  @Test("a migration is incomplete while an item was changed after it was copied")
  func changedSince() async throws {
    let note = try await add("note/alice")
    _ = try await move()
    let migration = Migration(from: old, to: new)
    #expect(try await migration.plan().isDone)
    _ = try await old.update(.ids([note.id]), ItemChange(), secret: SecretBytes(text: "another"), .nobody)
    let plan = try await migration.plan()
    #expect(!plan.isDone && plan.alreadyThere.isEmpty)
    #expect(plan.staying.map(\.obstacle) == [.changedSince])
    #expect(try await new.delete(.names([ItemName(parsing: "note/alice")])) == 1)
    #expect(try await move().moved.count == 1)
    #expect(try await migration.plan().isDone)
    #expect(try await new.secrets(.names([ItemName(parsing: "note/alice")]), .nobody)[0].text == "another")
    try await end()
  }

  @Test("a migration needs one touch for all items behind a finger, and binds them to the service's fingers")
  func fingers() async throws {
    try await enroll(in: old, image.socket, ScratchStore.passcode)
    for number in 0..<60 { _ = try await add("bound/\(number)", AccessControl(.currentSet)) }
    _ = try await add("any/alice", AccessControl(.anyFinger))
    let passkey = try await addPasskey()
    try await enroll(in: new, service.folder + "/sensor", RunningService.passcode)
    let person = Person(touches: [image.press(.rightIndex)])
    let outcome = try await move(by: person)
    #expect(outcome.moved.count == 62 && outcome.staying.isEmpty)
    #expect(try await new.allItems(ItemSearch(.passkey)).map(\.attributes) == [passkey.attributes])
    let sets = try await new.status().sets
    #expect(sets.map(\.boundItems) == [60])
    // Removing the finger from the service ends the items bound there, but none of the old store.
    let owner = Person(passcodes: [RunningService.passcode])
    let lost = try await owner.with(new) { try await new.unenroll(.rightIndex, Asking(in: $0)).lost }
    #expect(lost.count == 60)
    #expect(try await old.status().sets.map(\.boundItems) == [60])
    try await end()
  }

  @Test("a migration lists items that follow the session, and copies them under another class on request")
  func classes() async throws {
    let session = try await add("session/alice", .none, .whenUnlocked)
    _ = try await add("note/alice")
    let plan = try await Migration(from: old, to: new).plan()
    #expect(plan.movable.filter(\.followsSession).map(\.id) == [session.id])
    _ = try await move { $0.accessibility == .whenUnlocked ? .afterFirstUnlock : $0.accessibility }
    #expect(try await new.allItems(.everything).map(\.accessibility) == [.afterFirstUnlock, .afterFirstUnlock])
    try await end()
  }

  @Test("a migration ends at a wrong passcode for the old store, and continues the next time")
  func refused() async throws {
    _ = try await add("note/alice")
    _ = try await add("bank/alice", AccessControl(.passcode))
    await #expect(throws: VaultError.wrongPasscode) { _ = try await move(by: Person(passcodes: ["wrong"])) }
    #expect(try await new.status().items == 1)
    let outcome = try await move(by: Person(passcodes: [ScratchStore.passcode]))
    #expect(outcome.moved.count == 1 && outcome.alreadyThere.count == 1)
    try await end()
  }
}

extension Person {
  fileprivate var passcodesAsked: Int { events.count { if case .secretWanted(.passcode) = $0 { true } else { false } } }
}

extension Array {
  fileprivate func asyncMap<T>(_ body: (Element) async throws -> T) async throws -> [T] {
    var mapped: [T] = []
    for element in self { mapped.append(try await body(element)) }
    return mapped
  }
}

extension MigrationPlan {
  /// Whether every item that can be read is in the other store.
  fileprivate var isDone: Bool { movable.isEmpty && staying.allSatisfy { $0.item.state != .living } }
}
