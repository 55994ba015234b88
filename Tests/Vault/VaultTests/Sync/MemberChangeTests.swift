import SecretModel
import Synchronization
import Testing
import VaultDriver

@testable import Presence
@testable import Vault
@testable import VaultItems
@testable import VaultStore
@testable import VaultSync

@Suite("Changes of the members that others have made")
struct MemberChangeTests {
  private let repository = MemoryRepository()

  @Test("a machine publishes nothing before its owner has confirmed that another one was let in, which it names")
  func addition() async throws {
    let machines = try await repository.circle("desk", "lap")
    let thief = try await SyncMachine("thief")
    try await repository.admit(thief, by: machines[1])
    try await machines[0].sync(repository)
    #expect(
      try await machines[0].status.unconfirmed == [
        SyncStatus.MemberChange(by: "lap", added: ["thief"], removed: [])
      ])
    let before = repository.tip
    try await machines[0].set("mail", "gold")
    try await machines[0].sync(repository)
    #expect(repository.tip == before)
    try await machines[0].confirm()
    try await machines[0].sync(repository)
    try await thief.sync(repository)
    #expect(try await thief.get("mail") == "gold")
  }

  @Test("a removed machine that goes back to before its removal, and removes another one, gets no new secret")
  func branch() async throws {
    let machines = try await repository.circle("desk", "stolen", "attic")
    let before = repository.tip
    try await machines[0].remove(machines[1])
    try await machines[0].sync(repository)
    // The thief puts the repository back, and removes the owner's machine in that branch.
    repository.put(before)
    try await machines[1].forgetAndSync(repository)
    try await machines[1].remove(machines[0])
    try await machines[1].sync(repository)
    // A machine that was asleep since then follows to neither.
    try await machines[2].sync(repository)
    #expect(
      try await machines[2].status.unconfirmed == [
        SyncStatus.MemberChange(by: "stolen", added: [], removed: ["desk"])
      ])
    let tip = repository.tip
    try await machines[2].set("mail", "gold")
    try await machines[2].sync(repository)
    #expect(repository.tip == tip)
    // The machine that has seen both sides says so.
    #expect(try await machines[0].receive(repository.tip).wentBack)
    #expect(try await machines[0].status.isForked)
    #expect(try await machines[0].session.sync.files(after: nil, puttingBack: true).files.isEmpty)
  }

  @Test("what is closed when a member is removed counts as unpublished until it is encrypted to the others")
  func closedAtRemoval() async throws {
    let machines = try await repository.circle("desk", "lap", "attic")
    let (desk, lap) = (machines[0], machines[1])
    try await desk.set("mail", "gold")
    for machine in machines { try await machine.sync(repository) }
    desk.sessions.unlocked.withLock { $0 = false }
    try await desk.remove(machines[2])
    try await desk.sync(repository)
    #expect(try await desk.status.pending == 1)
    desk.sessions.unlocked.withLock { $0 = true }
    try await desk.sync(repository)
    #expect(try await desk.status.pending == 0)
    try await lap.sync(repository)
    #expect(try await lap.status.items == 1)
  }

  @Test("what was written for a member that is removed before it is published, and is closed then, is not published")
  func closedBeforePublished() async throws {
    let machines = try await repository.circle("desk", "lap", "attic")
    let (desk, attic) = (machines[0], machines[2])
    try await desk.set("mail", "gold")
    let before = repository.count
    desk.sessions.unlocked.withLock { $0 = false }
    try await desk.remove(attic)
    try await desk.sync(repository)
    desk.sessions.unlocked.withLock { $0 = true }
    try await desk.sync(repository)
    let keys = try await attic.vault.circle.keys.encryption
    for state in before..<repository.count {
      for (path, file) in repository[state] where path.hasPrefix("items/") {
        #expect(throws: (any Error).self, "the removed machine reads \(path)") {
          _ = try AgeMessage.open(file, with: keys)
        }
      }
    }
    try await machines[1].sync(repository)
    #expect(try await machines[1].get("mail") == "gold")
  }

  @Test("a machine with the name of another one gets a number, on itself and on the others")
  func twins() async throws {
    let machines = try await repository.circle("desk", "desk", "lap")
    for machine in machines {
      try await machine.sync(repository)
      #expect(try await machine.status.members.map(\.name).sorted() == ["desk", "desk (2)", "lap"])
    }
    #expect(try await machines[1].status.members.first { $0.isThisMachine }?.name == "desk (2)")
  }

  @Test("a member that lies cannot rename the others, or give the name of one of them to another")
  func renamed() async throws {
    let machines = try await repository.circle("desk", "lap", "liar")
    let (circle, thief) = (try await machines[2].vault.circle, try await SyncMachine("thief"))
    try await thief.ask(repository)
    let (old, contents) = (try await thief.vault.circle.own, try #require(circle.contents))
    var lying = contents
    lying.names = [:]
    for (member, name) in zip(circle.members + [old], ["lap", "desk", "desk", "lap\u{200B}"]) {
      lying.names[try member.id.description] = name
    }
    let list = try CircleRecord(
      after: circle.last, circle: circle.circle, members: circle.members + [old], lying, by: circle.keys, as: circle.id)
    _ = try await machines[0].receive(repository.tip.merging([SyncPath.circle(list.epoch).text: list.bytes]) { $1 })
    #expect(
      try await machines[0].status.unconfirmed == [
        SyncStatus.MemberChange(by: "liar", added: ["lap (2)"], removed: [])
      ])
    #expect(try await machines[0].status.members.map(\.name).sorted() == ["desk", "lap", "lap (2)", "liar"])
  }

  @Test("an owner who refuses a change of the members shares nothing more, and nothing is taken")
  func refused() async throws {
    let machines = try await repository.circle("desk", "lap")
    let thief = try await SyncMachine("thief")
    try await repository.admit(thief, by: machines[1])
    try await machines[0].sync(repository)
    try await machines[0].session.sync.change(.reject, .nobody)
    try await thief.set("mail", "iron")
    try await thief.sync(repository)
    let tip = repository.tip
    try await machines[0].set("bank", "silver")
    try await machines[0].sync(repository)
    #expect(repository.tip == tip)
    #expect(try await machines[0].status.isLocked)
    #expect(try await machines[0].get("mail") == nil)
  }

  @Test("a member that leaves by itself needs nobody's confirmation")
  func leaving() async throws {
    let machines = try await repository.circle("desk", "lap", "attic")
    try await machines[2].leave()
    for machine in machines.reversed() { try await machine.sync(repository) }
    #expect(try await machines[0].status.unconfirmed == [])
    try await machines[0].set("mail", "gold")
    try await machines[0].sync(repository)
    try await machines[1].sync(repository)
    #expect(try await machines[1].get("mail") == "gold")
  }

  /// The operator of an empty repository gets the first list with a push, refuses the push, and answers with a list of
  /// its own that names the machine as a member.
  @Test("no other list takes the place of the first one of a new circle, and nothing is encrypted to its members")
  func firstList() async throws {
    let desk = try await SyncMachine("desk")
    try await desk.set("mail", "gold")
    try await desk.begin()
    let (circle, thief) = (try await desk.vault.circle, try MemberKeys.make())
    let member = Member(
      thief, recovery: thief.encryption.publicKey, salt: [], MemberLocks(classes: [:], passcode: nil, tier: .keyFile))
    let list = try CircleRecord(
      after: nil, circle: String(repeating: "0", count: 32), members: [member, circle.own],
      #require(circle.contents), by: thief, as: member.id)
    repository.put([SyncPath.format.text: SyncPath.formatLine, SyncPath.circle(1).text: list.bytes])
    #expect(try await desk.sync(repository).wentBack)
    #expect(try await desk.status.members.map(\.name) == ["desk"])
    try await desk.sync(repository, puttingBack: true)
    let items = repository.tip.filter { $0.key.hasPrefix("items/") }
    #expect(!items.isEmpty)
    for (path, file) in items {
      #expect(throws: (any Error).self, "\(path)") { _ = try AgeMessage.open(file, with: thief.encryption) }
    }
  }

  @Test("a member's head that knows a list which the repository does not show is reported")
  func hiddenList() async throws {
    let machines = try await repository.circle("desk", "lap")
    let before = repository.tip
    let attic = try await SyncMachine("attic")
    try await repository.admit(attic, by: machines[0])
    // The repository's operator keeps the new list from the second machine, but shows it the newest state otherwise.
    let path = SyncPath.head(try await machines[0].id).text
    let files = before.merging([path: repository.tip[path] ?? []]) { $1 }
    #expect(try await machines[1].receive(files).isMixed)
    // Once it is shown, all is well.
    #expect(try await !machines[1].receive(repository.tip).isMixed)
  }

  @Test("two changes of the members at the same time, of which one reaches the repository first, are both made")
  func contested() async throws {
    let machines = try await repository.circle("desk", "lap", "attic", "cellar")
    try await machines[0].remove(machines[2])
    try await machines[1].remove(machines[3])
    try await machines[0].sync(repository)
    try await machines[1].sync(repository)
    try await machines[1].confirm()
    for machine in [machines[1], machines[0]] { try await machine.sync(repository) }
    try await machines[0].confirm()
    for machine in [machines[1], machines[0]] {
      try await machine.sync(repository)
      #expect(try await machine.status.members.map(\.name).sorted() == ["desk", "lap"], "\(machine.name)")
      #expect(try await !machine.status.isForked)
    }
  }

  @Test("a machine that another member has let in asks no more, also where the repository still has its request")
  func letInElsewhere() async throws {
    let machines = try await repository.circle("desk", "lap")
    let attic = try await SyncMachine("attic")
    try await attic.ask(repository)
    for machine in machines { try await machine.sync(repository) }
    #expect(try await machines[0].status.candidates.count == 1)
    let request = repository.tip.filter { $0.key.hasPrefix("requests/") }
    try await machines[1].approve(attic, in: repository)
    try await machines[1].sync(repository)
    _ = try await machines[0].receive(repository.tip.merging(request) { $1 })
    #expect(try await machines[0].status.members.count == 3)
    #expect(try await machines[0].status.candidates.isEmpty)
    // Nor does it ask when all is seen again.
    machines[0].forget()
    _ = try await machines[0].receive(repository.tip.merging(request) { $1 })
    #expect(try await machines[0].status.candidates.isEmpty)
  }

  @Test(
    "nothing of a request is left in the repository once its machine was let in, and no head of one that was removed")
  func leftovers() async throws {
    let machines = try await repository.circle("desk", "lap", "attic")
    let messages = ["requests/", "answers/", "openings/", "consents/"]
    #expect(!repository.tip.keys.contains { path in messages.contains { path.hasPrefix($0) } })
    for machine in machines {
      try await machine.set("of \(machine.name)", "gold")
      try await machine.sync(repository)
    }
    let head = SyncPath.head(try await machines[2].id).text
    #expect(repository.tip[head] != nil)
    try await machines[0].sync(repository)
    try await machines[0].remove(machines[2])
    try await machines[0].sync(repository)
    #expect(repository.tip[head] == nil)
  }

  @Test(
    "the head of a machine that was removed does not make a mixture of old and new files look whole",
    arguments: ["desk", "lap"])
  func formerHead(remover: String) async throws {
    let machines = try await repository.circle("desk", "lap", "attic")
    let (desk, attic) = (machines[0], machines[2])
    // The newest state is that of its head alone.
    try await attic.set("mail", "gold")
    for machine in [attic, desk] { try await machine.sync(repository) }
    let items = repository.tip.filter { $0.key.hasPrefix("items/") }
    let machine = try #require(machines.first { $0.name == remover })
    try await machine.sync(repository)
    try await machine.remove(attic)
    try await machine.sync(repository)
    // The new list and the head of its maker, with the items as they were.
    let mixture = repository.tip.merging(items) { $1 }
    #expect(mixture != repository.tip)
    #expect(try await desk.receive(mixture).isMixed)
  }

  @Test("a circle can change its members as often as its owner likes")
  func manyChanges() async throws {
    let desk = try await repository.circle("desk")[0]
    for number in 1...12 {
      let other = try await SyncMachine("machine \(number)")
      try await repository.admit(other, by: desk)
      try await desk.remove(other)
      try await desk.sync(repository)
    }
    #expect(try await desk.status.members.count == 1)
  }

  @Test("what a machine has encrypted for lists of its own is encrypted again where another list was published first")
  func overtaken() async throws {
    let machines = try await repository.circle("desk", "lap", "attic")
    let (desk, lap, attic) = (machines[0], machines[1], machines[2])
    // Two lists of its own, with the removed machine, which another list takes the place of.
    for _ in 1...2 { try await lap.renewRecoveryKey() }
    try await lap.set("mail", "gold")
    try await desk.remove(attic)
    for machine in [desk, lap] { try await machine.sync(repository) }
    try await lap.confirm()
    let before = repository.count
    for machine in [lap, desk] { try await machine.sync(repository) }
    #expect(try await desk.get("mail") == "gold")
    // Its own entry is changed again after the other list.
    let circle = try await lap.vault.circle
    #expect(try circle.last.member(circle.id) == circle.own)
    let keys = try await attic.vault.circle.keys.encryption
    for state in before..<repository.count {
      for (path, file) in repository[state] where path.hasPrefix("items/") {
        #expect(throws: (any Error).self, "the removed machine reads \(path)") {
          _ = try AgeMessage.open(file, with: keys)
        }
      }
    }
  }

  /// A thief has the keys of a machine for sharing, from its disk, and neither those of its classes nor its passcode.
  @Test("new keys of a member are told by name, and nothing is encrypted to them before a yes")
  func newKeys() async throws {
    let machines = try await repository.circle("desk", "lap")
    let (desk, lap) = (machines[0], machines[1])
    try await desk.set("bank", "silver", .passcode)
    for machine in machines { try await machine.sync(repository) }
    let (circle, thief) = (try await lap.vault.circle, try MemberKeys.make())
    let own = try #require(try circle.last.member(circle.id))
    let locks = MemberLocks(
      classes: Dictionary(uniqueKeysWithValues: Accessibility.allCases.map { ($0, thief.encryption.publicKey) }),
      passcode: thief.encryption.publicKey, tier: .tpm)
    let forged = Member(circle.keys, recovery: thief.encryption.publicKey, salt: own.salt.bytes, locks)
    let list = try CircleRecord(
      after: circle.last, circle: circle.circle, members: circle.members.filter { $0 != own } + [forged],
      #require(circle.contents), by: circle.keys, as: circle.id)
    repository.put(repository.tip.merging([SyncPath.circle(list.epoch).text: list.bytes]) { $1 })
    try await desk.set("mail", "gold")
    try await desk.sync(repository)
    #expect(
      try await desk.status.unconfirmed == [SyncStatus.MemberChange(by: "lap", added: ["lap"], removed: ["lap"])])
    let circleOfDesk = try await desk.vault.circle
    let authors = try circleOfDesk.everyAuthor
    let keys = SecretKeys(recovery: thief.encryption)
    for (path, file) in repository.tip where path.hasPrefix("items/") {
      let revision = try Revision(
        file, with: circle.keys.encryption, expectedAt: 0, circle: circle.circle, from: authors)
      #expect(throws: (any Error).self, "\(path)") { _ = try revision.secret(with: keys) }
    }
  }

  @Test(
    "a number of the members' list that was changed in the database does not keep a record from being encrypted again")
  func editedNumber() async throws {
    let machines = try await repository.circle("desk", "lap", "attic")
    try await machines[1].set("mail", "gold")
    try await machines[0].remove(machines[2])
    for machine in machines[...1] { try await machine.sync(repository) }
    try await machines[1].store.edit("UPDATE sync_record SET epoch = 1000")
    try await machines[1].confirm()
    let before = repository.count
    for machine in machines[...1].reversed() { try await machine.sync(repository) }
    #expect(try await machines[0].get("mail") == "gold")
    // In no state: the other machine encrypts again what it has received.
    let keys = try await machines[2].vault.circle.keys.encryption
    for state in before..<repository.count {
      for (path, file) in repository[state] where path.hasPrefix("items/") {
        #expect(throws: (any Error).self, "\(state) \(path)") { _ = try AgeMessage.open(file, with: keys) }
      }
    }
  }

  @Test("a change of the members that arrives while the owner is asked about another one is not confirmed with it")
  func meanwhile() async throws {
    let machines = try await repository.circle("desk", "lap")
    var lists: [[UInt8]] = []
    for name in ["one", "two"] {
      try await repository.admit(try await SyncMachine(name), by: machines[1])
      try await machines[0].sync(repository)
      lists.append(try await machines[0].vault.circle.last.digest)
    }
    await #expect(throws: VaultError.busy("your computers have changed once more meanwhile")) {
      try await machines[0].vault.confirm(after: lists[0])
    }
    #expect(try await machines[0].status.unconfirmed.count == 2)
    try await machines[0].vault.confirm(after: lists[1])
    #expect(try await machines[0].status.unconfirmed.isEmpty)
  }
}

extension Vault {
  fileprivate func confirm(after list: [UInt8]) throws {
    try SyncedItems(presence.passcodes.store, nonces).change(.confirm, nil, after: list)
  }
}
