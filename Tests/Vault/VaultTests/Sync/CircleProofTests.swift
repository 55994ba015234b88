import GRDB
import Primitives
import SecretModel
import Synchronization
import Testing
import VaultDriver

@testable import Presence
@testable import Vault
@testable import VaultItems
@testable import VaultStore
@testable import VaultSync

extension Vault {
  /// What would name the record of an item if it were a kept version.
  fileprivate func keptID(of title: String) throws -> String {
    try presence.passcodes.store.read { snapshot in
      try #require(try snapshot.records(where: "1").first { $0.head.title.description == title }).keptID
    }
  }

  /// Begins a circle after the passcode, and after something that happens between the two.
  fileprivate func beginCircle(
    in context: ContextHandle, after meanwhile: @Sendable () async throws -> Void
  ) async throws {
    let turn = try await presence.contexts.turn(of: Request(of: itself, Asking(in: context)))
    let proven = try await presence.passcodes.prove(turn.context)
    let store = presence.passcodes.store
    let key = try store.read { snapshot in try snapshot.recoveryPublicKey(proven.key.bytes) }
    try await meanwhile()
    try SyncedItems(store, nonces).begin(.new, machine: "desk", recovery: #require(AgePublicKey(bytes: key))) {
      try proven.requireCurrent($0)
    }
  }
}

@Suite("Proofs for a circle, and what changes while they are given")
struct CircleProofTests {
  private let repository = MemoryRepository()

  /// Something that happens once, while a finger is on the reader.
  private final class Meanwhile: Sendable {
    private let act = Mutex<(@Sendable () async throws -> Void)?>(nil)

    func next(_ act: @escaping @Sendable () async throws -> Void) { self.act.withLock { $0 = act } }

    var reader: InterposedReader {
      InterposedReader(
        real: ScriptedReader(),
        at: { step in
          guard step == .answered else { return }
          let act = self.act.withLock { act in
            defer { act = nil }
            return act
          }
          do { try await act?() } catch { Issue.record(error) }
        })
    }
  }

  @Test("a kept version of a synced item does not become current by a finger that is removed during its touch")
  func removedFinger() async throws {
    let desk = try await repository.circle("desk")[0]
    let meanwhile = Meanwhile()
    let lap = try await SyncMachine("lap", reader: meanwhile.reader)
    try await repository.admit(lap, by: desk)
    try await desk.enroll()
    for finger in [Finger.rightIndex, .leftIndex] { try await lap.enroll(finger) }
    try await desk.set("mail", "from desk", .anyFinger)
    try await lap.set("mail", "from lap", .anyFinger)
    for machine in [desk, lap, desk, lap] { try await machine.sync(repository) }
    let kept = try await lap.status.kept
    #expect(kept.count == 1)
    let other = try lap.store.open(reader: ScriptedReader())
    meanwhile.next {
      _ = try await Person(passcodes: [ScratchStore.passcode]).with(other) {
        try await other.unenroll(.leftIndex, in: $0)
      }
    }
    await #expect(throws: VaultError.setChanged) { try await lap.resolve(.use(kept: kept[0].id)) }
    #expect(try await lap.status.kept == kept)
    try await lap.resolve(.use(kept: kept[0].id))
    #expect(try await lap.status.kept == [])
  }

  @Test("the members of a circle do not change by a finger that is removed during its touch")
  func removedFingerOfChange() async throws {
    let desk = try await repository.circle("desk")[0]
    let meanwhile = Meanwhile()
    let lap = try await SyncMachine("lap", reader: meanwhile.reader)
    try await repository.admit(lap, by: desk)
    for finger in [Finger.rightIndex, .leftIndex] { try await lap.enroll(finger) }
    let other = try lap.store.open(reader: ScriptedReader())
    meanwhile.next {
      _ = try await Person(passcodes: [ScratchStore.passcode]).with(other) {
        try await other.unenroll(.leftIndex, in: $0)
      }
    }
    let change = SyncMemberChange.remove(try await desk.id)
    await #expect(throws: VaultError.setChanged) {
      try await Person().with(lap.session) { try await lap.session.sync.change(change, Asking(in: $0)) }
    }
    #expect(try await lap.status.members.count == 2)
    try await Person().with(lap.session) { try await lap.session.sync.change(change, Asking(in: $0)) }
    #expect(try await lap.status.members.count == 1)
  }

  @Test("no program agrees to words, lets a machine in, removes or confirms one, or leaves, without the owner")
  func unasked() async throws {
    let machines = try await repository.circle("desk", "lap")
    let (desk, attic) = (machines[0], try await SyncMachine("attic"))
    try await attic.ask(repository)
    try await desk.sync(repository)
    try await desk.answer(attic)
    for machine in [desk, attic, desk] { try await machine.sync(repository) }
    let (id, other) = (try await attic.id, try await machines[1].id)
    for (machine, change) in [
      (attic, SyncMemberChange.agree), (desk, .approve(id, replacing: nil)), (desk, .remove(other)), (desk, .confirm),
      (desk, .leave),
    ] {
      await #expect(throws: VaultError.interactionNotAllowed, "\(change)") {
        try await machine.session.sync.change(change, .nobody)
      }
    }
    #expect(try await attic.status.hasAgreed == false)
    #expect(try await desk.status.members.count == 2)
  }

  @Test("without a passcode the members of a circle change by the recovery key alone")
  func withoutPasscode() async throws {
    let desk = try await repository.circle("desk")[0]
    let lap = try await SyncMachine("lap", passcode: nil)
    try await repository.admit(lap, by: desk)
    let change = SyncMemberChange.remove(try await desk.id)
    for person in [Person(), Person(recoveryKey: desk.store.recoveryKey)] {
      await #expect(throws: VaultError.self) {
        try await person.with(lap.session, ContextOptions(timeout: .seconds(20))) {
          try await lap.session.sync.change(change, Asking(in: $0))
        }
      }
      #expect(try await lap.status.members.count == 2)
    }
    try await lap.remove(desk)
    #expect(try await lap.status.members.count == 1)
  }

  @Test("a circle does not begin by a passcode that was changed after it was given")
  func changedPasscode() async throws {
    let desk = try await SyncMachine("desk")
    let other = try desk.store.open(reader: ScriptedReader())
    await #expect(throws: VaultError.busy("the passcode was changed meanwhile")) {
      try await Person(passcodes: [ScratchStore.passcode]).with(desk.vault) { context in
        try await desk.vault.beginCircle(in: context) {
          let person = Person(passcodes: [ScratchStore.passcode], newPasscode: "another passcode")
          _ = try await person.with(other) { try await other.changePasscode(in: $0) }
        }
      }
    }
    #expect(try await desk.status.standing == .none)
  }

  @Test("a waiting synced item whose rule became stricter is not stored by a proof for the old rule")
  func stricterRule() async throws {
    let desk = try await repository.circle("desk")[0]
    let meanwhile = Meanwhile()
    let lap = try await SyncMachine("lap", reader: meanwhile.reader)
    for machine in [desk, lap] { try await machine.enroll() }
    // An item of the same name that was never shared: the one that comes in waits for a person.
    try await lap.set("mail", "mine", .anyFinger)
    try await desk.set("mail", "gold", .anyFinger)
    try await desk.sync(repository)
    try await repository.admit(lap, by: desk)
    #expect(try await lap.status.waiting.count == 1)
    let (repository, mail) = (repository, try ItemName(parsing: "mail"))
    meanwhile.next {
      try await desk.set("mail", "silver", .passcode)
      try await desk.sync(repository)
      try await lap.sync(repository)
    }
    await #expect(throws: VaultError.touchRefused) { try await lap.resolve(.bind(mail)) }
    #expect(try await lap.get("mail") == "mine")
    #expect(try await lap.status.waiting.count == 1)
  }

  @Test("nobody is asked before a change of a machine, or of an item, that is not there")
  func nothingThere() async throws {
    let desk = try await repository.circle("desk")[0]
    try await desk.set("mail", "gold", .passcode)
    let (unknown, mail) = (try #require(MemberID(String(repeating: "0", count: 32))), try ItemName(parsing: "mail"))
    let sync = desk.session.sync
    for change in [SyncMemberChange.approve(unknown, replacing: nil), .remove(unknown), .answer(unknown)] {
      await #expect(throws: VaultError.itemGone, "\(change)") { try await sync.change(change, .nobody) }
    }
    // An item that is stored does not wait.
    await #expect(throws: VaultError.itemGone) { try await sync.resolve(.bind(mail), .nobody) }
    #expect(try await desk.get("mail") == "gold")
    // One that waits is no version that lost against another one.
    let lap = try await SyncMachine("lap")
    try await repository.admit(lap, by: desk)
    #expect(try await lap.status.waiting.count == 1)
    let row = try await lap.vault.keptID(of: "mail")
    for resolution in [SyncResolution.use(kept: row), .drop(kept: row)] {
      await #expect(throws: VaultError.itemGone, "\(resolution)") {
        try await lap.session.sync.resolve(resolution, .nobody)
      }
    }
    #expect(try await lap.status.waiting.count == 1)
  }

  @Test("an item that was never shared and needs a finger is kept beside a synced one of its name by a touch")
  func boundBeside() async throws {
    let desk = try await repository.circle("desk")[0]
    try await desk.set("mail", "gold", .presence)
    try await desk.sync(repository)
    let lap = try await SyncMachine("lap")
    try await lap.enroll()
    try await lap.set("mail", "iron", .currentSet)
    try await repository.admit(lap, by: desk)
    #expect(try await lap.status.waiting.map(\.reason) == [.touch])
    // Its owner types the passcode where that is enough.
    try await lap.resolve(.bind(ItemName(parsing: "mail")))
    #expect(try await lap.get("mail") == "gold")
    #expect(try await lap.status.kept.count == 1)
  }

  @Test("of the same secret that two machines store under different rules at the same time, both versions are kept")
  func otherRule() async throws {
    let machines = try await repository.circle("desk", "lap")
    for (machine, rule) in zip(machines, [AccessControl.Constraint.presence, .none]) {
      try await machine.set("mail", "gold", rule)
    }
    for machine in machines + machines { try await machine.sync(repository) }
    for machine in machines { #expect(try await machine.status.kept.count == 1, "\(machine.name)") }
  }

  @Test("a synced item takes the place of one that was never shared and that nothing opens any more")
  func deadItem() async throws {
    let desk = try await repository.circle("desk")[0]
    try await desk.set("mail", "gold")
    try await desk.sync(repository)
    let lap = try await SyncMachine("lap")
    try await lap.enroll()
    try await lap.set("mail", "iron", .currentSet)
    try await lap.enroll(.leftIndex)
    try await repository.admit(lap, by: desk)
    #expect(try await lap.get("mail") == "gold")
    #expect(try await lap.status.waiting == [])
  }

  @Test("what another machine shares is no entry of the login, whatever its group: a login runs no command of it")
  func loginEntry() async throws {
    let machines = try await repository.circle("desk", "lap")
    var entry = NewItem(
      LoginItem(.command, name: "touch /tmp/owned", source: ItemID(bytes: [UInt8](repeating: 7, count: 16))))
    entry.attributes[.synchronizable] = .number(1)
    let item = entry
    _ = try await machines[1].asking {
      try await machines[1].session.add(item, secret: SecretBytes(text: "x"), replacing: false, $0)
    }
    for machine in [machines[1], machines[0]] { try await machine.sync(repository) }
    let shared = ItemSearch(groups: .all, synchronizable: .yes)
    #expect(try await machines[0].session.items(shared, .nobody).items.count == 1)
    #expect(try await machines[0].session.items(ItemSearch(loginItemsOf: nil), .nobody).items.isEmpty)
  }

  @Test("an item with an application password is not stored as a shared item of a circle")
  func ownPassword() async throws {
    let desk = try await repository.circle("desk")[0]
    var item = NewItem(
      named: try ItemName(parsing: "mail"), access: AccessControl(.none, applicationPassword: true))
    item.attributes[.synchronizable] = .number(1)
    let new = item
    await #expect {
      try await Person(applicationPassword: "word").with(desk.session, ContextOptions(timeout: .seconds(20))) {
        _ = try await desk.session.add(new, secret: SecretBytes(text: "gold"), replacing: false, Asking(in: $0))
      }
    } throws: { error in
      if case VaultError.invalidRequest = error { true } else { false }
    }
    #expect(try await desk.get("mail") == nil)
    #expect(try await desk.status.pending == 0)
  }

  @Test("a sync record that was edited in the store's database is not published")
  func changedFile() async throws {
    let desk = try await repository.circle("desk")[0]
    try await desk.set("mail", "gold")
    let database = try DatabaseQueue(path: desk.store.path + "/vault.db")
    try await database.write { db in try db.execute(sql: "UPDATE sync_record SET file = x'00'") }
    try await desk.sync(repository)
    #expect(!repository.tip.values.contains([0]))
    #expect(try await desk.get("mail") == "gold")
  }

  @Test("a machine that joins a circle later gets the items and kept versions of a removed machine")
  func removedWriter() async throws {
    let machines = try await repository.circle("desk", "attic")
    try await machines[1].set("bank", "silver")
    try await machines[1].set("mail", "from attic")
    try await machines[0].set("mail", "from desk")
    for machine in machines + machines { try await machine.sync(repository) }
    let current = try await machines[0].get("mail")
    try await machines[0].remove(machines[1])
    try await machines[0].sync(repository)
    let lap = try await SyncMachine("lap")
    try await repository.admit(lap, by: machines[0])
    #expect(try await lap.get("bank") == "silver")
    #expect(try await lap.get("mail") == current)
    let kept = try await lap.status.kept
    #expect(kept.count == 1)
    try await lap.resolve(.use(kept: kept[0].id))
    #expect(try await lap.get("mail") == (current == "from desk" ? "from attic" : "from desk"))
  }

  @Test("an item named like one that was deleted before a circle's recovery stays in the repository")
  func nameUsedAgain() async throws {
    let desk = try await repository.circle("desk")[0]
    try await desk.set("mail", "old")
    try await desk.sync(repository)
    try await desk.delete("mail")
    try await desk.sync(repository)
    let lap = try await SyncMachine("lap")
    try await lap.recover(repository, recoveryKey: desk.store.recoveryKey) {
      try await lap.set("mail", "new")
    }
    try await lap.set("bank", "silver")
    try await lap.sync(repository)
    let third = try await SyncMachine("third")
    try await repository.admit(third, by: lap)
    #expect(try await third.items == ["mail": "new", "bank": "silver"])
  }

  @Test("a list of members that a recovered circle makes before it publishes first stays in the repository")
  func listUsedAgain() async throws {
    let machines = try await repository.circle("desk", "attic")
    try await machines[0].set("mail", "gold")
    try await machines[0].sync(repository)
    let lap = try await SyncMachine("lap")
    try await lap.recover(repository, recoveryKey: machines[0].store.recoveryKey) { try await lap.renewRecoveryKey() }
    #expect(try await lap.vault.circle.epoch == 2)
    let third = try await SyncMachine("third")
    try await repository.admit(third, by: lap)
    #expect(try await third.items == ["mail": "gold"])
  }
}
