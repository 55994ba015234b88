import SecretModel
import Testing
import VaultDriver

@testable import Presence
@testable import Vault
@testable import VaultItems
@testable import VaultSync

@Suite("Joining a circle, confirmed by a person on both machines")
struct JoiningTests {
  private let repository = MemoryRepository()

  /// A machine that has asked, and the member that has answered it, up to the words.
  private func answered() async throws -> (desk: SyncMachine, lap: SyncMachine) {
    let desk = try await repository.circle("desk")[0]
    let lap = try await SyncMachine("lap")
    try await lap.ask(repository)
    try await desk.sync(repository)
    try await desk.answer(lap)
    for machine in [desk, lap, desk] { try await machine.sync(repository) }
    return (desk, lap)
  }

  @Test("both machines show the same six words, and no words before each has answered the other")
  func words() async throws {
    let desk = try await repository.circle("desk")[0]
    let lap = try await SyncMachine("lap")
    try await lap.ask(repository)
    try await desk.sync(repository)
    #expect(try await lap.status.words == [])
    #expect(try await desk.status.candidates.map(\.words) == [[]])
    try await desk.answer(lap)
    for machine in [desk, lap, desk] { try await machine.sync(repository) }
    let words = try await lap.status.words
    #expect(words.count == 6)
    #expect(try await desk.status.candidates.map(\.words) == [words])
    // The name comes with the consent.
    #expect(try await desk.status.candidates.map(\.name) == [""])
    try await lap.agree()
    for machine in [lap, desk] { try await machine.sync(repository) }
    #expect(try await desk.status.candidates.map(\.name) == ["lap"])
  }

  @Test("a member cannot let a machine in before its owner has agreed to the words")
  func noConsent() async throws {
    let (desk, lap) = try await answered()
    let id = try await lap.id
    await #expect(throws: VaultError.busy("nobody has said yes on the other computer yet")) {
      try await desk.approve(id)
    }
    #expect(try await desk.status.members.count == 1)
  }

  @Test("a repository's operator with a circle of his own gets no secret of a machine whose owner has not agreed")
  func ownCircle() async throws {
    // The operator answers in the place of the owner's other machine, and lets the machine in himself.
    let operatorsOwn = try await repository.circle("operator")[0]
    let lap = try await SyncMachine("lap")
    try await lap.set("mail", "gold")
    try await lap.ask(repository)
    try await operatorsOwn.sync(repository)
    try await operatorsOwn.answer(lap)
    for machine in [operatorsOwn, lap, operatorsOwn] { try await machine.sync(repository) }
    let circle = try await operatorsOwn.vault.circle
    let contents = try #require(circle.contents)
    let list = try await CircleRecord(
      after: circle.last, circle: circle.circle, members: circle.members + [lap.vault.circle.own], contents,
      by: circle.keys, as: circle.id)
    let receipt = try await lap.receive(repository.tip.merging([SyncPath.circle(2).text: list.bytes]) { $1 })
    #expect(receipt.refused.map(\.path) == [SyncPath.circle(2).text])
    #expect(try await lap.status.standing == .asking)
    #expect(try await lap.session.sync.files(after: nil, puttingBack: false).files.isEmpty)
    #expect(!repository.tip.keys.contains { $0.hasPrefix("items/") })
  }

  @Test("whoever stands between two machines gets other words on each of them")
  func between() async throws {
    let (real, forged) = (repository, MemoryRepository())
    let desk = try await real.circle("desk")[0]
    // Towards the machine that joins, the attacker is a member; towards the member, a machine that asks.
    let (member, asker) = (try await forged.circle("desk")[0], try await SyncMachine("lap"))
    let lap = try await SyncMachine("lap")
    try await lap.ask(forged)
    try await asker.ask(real)
    try await desk.sync(real)
    try await desk.answer(asker)
    for machine in [desk, asker, desk] { try await machine.sync(real) }
    try await member.sync(forged)
    try await member.answer(lap)
    for machine in [member, lap, member] { try await machine.sync(forged) }
    let shown = try await lap.status.words
    #expect(shown.count == 6)
    #expect(try await desk.status.candidates.first?.words != shown)
  }

  @Test("a machine that was interrupted before an answer came has to ask again")
  func interrupted() async throws {
    let desk = try await repository.circle("desk")[0]
    let lap = try await SyncMachine("lap")
    try await lap.ask(repository)
    // The number of the request was in the memory of a vault that has ended.
    _ = await lap.vault.nonces.take(of: try await lap.id)
    try await desk.sync(repository)
    try await desk.answer(lap)
    try await desk.sync(repository)
    let receipt = try await lap.receive(repository.tip)
    #expect(receipt.refused.map(\.path) == [SyncPath.answer(try await lap.id).text])
    #expect(try await lap.status.words == [])
  }

  @Test("a machine keeps the words of the first answer when another answer takes its place")
  func firstAnswer() async throws {
    let (desk, lap) = try await answered()
    let words = try await lap.status.words
    let circle = try await desk.vault.circle
    let request = try JoinRequest(#require(await lap.vault.circle.joining).request.bytes, circle: circle.circle)
    let second = try JoinAnswer(to: request, circle.last, by: circle.keys, as: circle.id)
    let path = SyncPath.answer(try await lap.id).text
    #expect(try await lap.receive(repository.tip.merging([path: second.bytes]) { $1 }).refused.isEmpty)
    #expect(try await lap.status.words == words)
  }

  @Test("a member keeps the number and the consent of a machine that asks when other files take their place")
  func firstMessages() async throws {
    let (desk, lap) = try await answered()
    try await lap.agree()
    for machine in [lap, desk] { try await machine.sync(repository) }
    let (id, before) = (try await lap.id, try await desk.status.candidates)
    #expect(before.map(\.hasAgreed) == [true])
    for path in [SyncPath.opening(id), .consent(id)] {
      _ = try await desk.receive(repository.tip.merging([path.text: Array("nonsense\n".utf8)]) { $1 })
      #expect(try await desk.status.candidates == before, "\(path)")
    }
    // Nor does it forget its answer when it sees everything once more.
    try await desk.forgetAndSync(repository)
    #expect(try await desk.status.candidates == before)
    try await desk.approve(id)
    #expect(try await desk.status.members.count == 2)
  }

  @Test("a machine does not ask to join with lists of members of which one is missing, or with none")
  func incompleteLists() async throws {
    try await repository.circle("desk", "attic", "cellar")
    let lists = repository.tip.filter { $0.key.hasPrefix("circle/") }
    #expect(lists.count == 3)
    let lap = try await SyncMachine("lap")
    for missing in [[SyncPath.circle(1)], [.circle(2)], [.circle(1), .circle(2), .circle(3)]] {
      let left = MemoryRepository()
      left.put(lists.filter { path, _ in !missing.contains { $0.text == path } })
      await #expect(throws: VaultError.fileUnreadable("the records of your computers are not complete"), "\(missing)") {
        try await lap.ask(left)
      }
    }
    #expect(try await lap.status.standing == .none)
  }

  @Test("a machine that asks with a name that only looks like another one's gets a number")
  func lookalike() async throws {
    let desk = try await repository.circle("desk")[0]
    try await repository.admit(try await SyncMachine("de\u{200B}sk"), by: desk)
    #expect(try await desk.status.members.map(\.name).sorted() == ["desk", "desk (2)"])
  }

  @Test("a machine whose recovery key is replaced while it asks is in the list of members with the new one")
  func newRecoveryKey() async throws {
    let (desk, lap) = try await answered()
    try await lap.agree()
    try await lap.renewRecoveryKey()
    for machine in [lap, desk] { try await machine.sync(repository) }
    try await desk.approve(lap.id)
    for machine in [desk, lap, desk] { try await machine.sync(repository) }
    let (own, id) = (try await lap.vault.circle.own, try await lap.id)
    #expect(try await desk.vault.circle.last.member(id) == own)
  }

  @Test("whoever lets a machine in gives the passcode where something that is shared needs it")
  func passcode() async throws {
    let desk = try await repository.circle("desk")[0]
    let lap = try await SyncMachine("lap")
    try await lap.ask(repository)
    try await desk.sync(repository)
    let change = SyncMemberChange.approve(try await lap.id, replacing: nil)
    #expect(try await desk.vault.access(for: change) == AccessControl(.presence))
    try await desk.set("bank", "gold", .passcode)
    #expect(try await desk.vault.access(for: change) == AccessControl(.passcode))
  }

  @Test("a second member does not answer a machine that another one has answered")
  func secondAnswer() async throws {
    let machines = try await repository.circle("desk", "attic")
    let lap = try await SyncMachine("lap")
    try await lap.ask(repository)
    for machine in machines { try await machine.sync(repository) }
    try await machines[0].answer(lap)
    for machine in machines { try await machine.sync(repository) }
    await #expect(throws: VaultError.busy("another computer has answered it: approve it there")) {
      try await machines[1].answer(lap)
    }
  }

  @Test("a machine is let in by the member alone that has answered it, also after its owner has agreed")
  func otherMember() async throws {
    let machines = try await repository.circle("desk", "attic")
    let lap = try await SyncMachine("lap")
    try await lap.ask(repository)
    try await machines[0].sync(repository)
    try await machines[0].answer(lap)
    for machine in [machines[0], lap, machines[0]] { try await machine.sync(repository) }
    try await lap.agree()
    let circle = try await machines[1].vault.circle
    let list = try await CircleRecord(
      after: circle.last, circle: circle.circle, members: circle.members + [lap.vault.circle.own],
      #require(circle.contents), by: circle.keys, as: circle.id)
    let path = SyncPath.circle(list.epoch).text
    let receipt = try await lap.receive(repository.tip.merging([path: list.bytes]) { $1 })
    #expect(receipt.refused.map(\.path) == [path])
    #expect(try await lap.status.standing == .asking)
  }

  @Test("a machine that was restored and joins again takes the place of its earlier entry in the same change")
  func restored() async throws {
    let machines = try await repository.circle("desk", "lap")
    let again = try await SyncMachine("lap")
    try await again.ask(repository)
    try await machines[0].approve(again, in: repository, replacing: machines[1])
    for machine in [machines[0], again, machines[1]] { try await machine.sync(repository) }
    #expect(try await machines[0].status.members.map(\.name).sorted() == ["desk", "lap"])
    #expect(try await machines[1].status.standing == .removed)
    #expect(try await again.status.standing == .member)
  }

  @Test("a change of the members after the answer ends the request, since the words do not cover it")
  func changedMeanwhile() async throws {
    let (desk, lap) = try await answered()
    let attic = try await SyncMachine("attic")
    try await repository.admit(attic, by: desk)
    _ = try await lap.receive(repository.tip)
    try await lap.agree()
    try await lap.sync(repository)
    #expect(try await lap.status.standing == .asking)
  }
}

extension Vault {
  /// What its owner has to show for a change of the members.
  fileprivate func access(for change: SyncMemberChange) throws -> AccessControl? {
    try SyncedItems(presence.passcodes.store, nonces).prompt(for: change)?.access
  }
}
