import Keys
import Primitives
import SecretModel
import Testing
import VaultDriver

@testable import Presence
@testable import Vault
@testable import VaultItems
@testable import VaultSync

@Suite("A member's answer to a machine that asks to join")
struct AnswerTests {
  private let repository = MemoryRepository()

  /// A machine that asks, and the member that will answer it.
  private func asked() async throws -> (desk: SyncMachine, lap: SyncMachine) {
    let desk = try await repository.circle("desk")[0]
    let lap = try await SyncMachine("lap")
    try await lap.ask(repository)
    try await desk.sync(repository)
    return (desk, lap)
  }

  @Test("an answer is made anew where the member's own entry changes before it is published")
  func unpublished() async throws {
    let (desk, lap) = try await asked()
    try await desk.answer(lap)
    try await desk.renewRecoveryKey()
    for machine in [desk, lap, desk] { try await machine.sync(repository) }
    let words = try await lap.status.words
    #expect(words.count == 6)
    #expect(try await desk.status.candidates.map(\.words) == [words])
  }

  @Test("an answer is made anew where the list of members changes before the other machine has seen it")
  func published() async throws {
    let (desk, lap) = try await asked()
    try await desk.answer(lap)
    try await desk.sync(repository)
    try await desk.renewRecoveryKey()
    // The member finds its earlier answer in the repository, and complains of nothing.
    #expect(try await desk.receive(repository.tip).refused.isEmpty)
    for machine in [desk, lap, desk] { try await machine.sync(repository) }
    let words = try await lap.status.words
    #expect(words.count == 6)
    #expect(try await desk.status.candidates.map(\.words) == [words])
    try await lap.agree()
    for machine in [lap, desk] { try await machine.sync(repository) }
    try await desk.approve(lap.id)
    for machine in [desk, lap] { try await machine.sync(repository) }
    #expect(try await lap.status.standing == .member)
  }

  @Test("an answer for which the other machine has opened its number is not replaced")
  func opened() async throws {
    let (desk, lap) = try await asked()
    try await desk.answer(lap)
    for machine in [desk, lap, desk] { try await machine.sync(repository) }
    let path = SyncPath.answer(try await lap.id).text
    let answer = repository.tip[path]
    try await desk.renewRecoveryKey()
    try await desk.answer(lap)
    try await desk.sync(repository)
    #expect(answer != nil && repository.tip[path] == answer)
  }

  @Test("an answer that no member has signed keeps no member from answering")
  func forged() async throws {
    let (desk, lap) = try await asked()
    let (id, circle, stranger) = (try await lap.id, try await desk.vault.circle, try MemberKeys.make())
    let path = SyncPath.answer(id).text
    let request = try JoinRequest(#require(repository.tip[SyncPath.request(id).text]), circle: circle.circle)
    for signer in [circle.id, id] {
      let answer = try JoinAnswer(to: request, circle.last, by: stranger, as: signer)
      let receipt = try await desk.receive(repository.tip.merging([path: answer.bytes]) { $1 })
      // What looks like its own earlier answer is not even read.
      #expect(receipt.refused.map(\.path) == (signer == id ? [path] : []))
      #expect(try await desk.status.candidates.count == 1)
    }
    try await desk.approve(lap, in: repository)
    #expect(try await desk.status.members.count == 2)
  }

  @Test("a member whose answer came after that of another one goes on sharing, also under a new list of members")
  func twoAnswers() async throws {
    let machines = try await repository.circle("desk", "attic")
    let lap = try await SyncMachine("lap")
    try await lap.ask(repository)
    for machine in machines { try await machine.sync(repository) }
    for machine in machines { try await machine.answer(lap) }
    for machine in machines { try await machine.sync(repository) }
    try await machines[0].renewRecoveryKey()
    try await machines[0].sync(repository)
    _ = try await machines[1].receive(repository.tip)
    try await machines[1].confirm()
    try await machines[1].set("mail", "gold")
    for machine in machines.reversed() { try await machine.sync(repository) }
    #expect(try await machines[0].get("mail") == "gold")
  }

  @Test("a machine that asks to join shows no other one that asks")
  func twoRequests() async throws {
    let (desk, lap) = try await asked()
    let attic = try await SyncMachine("attic")
    try await attic.ask(repository)
    for machine in [lap, desk] { try await machine.sync(repository) }
    #expect(try await desk.status.candidates.count == 2)
    #expect(try await lap.status.candidates.isEmpty)
    #expect(try await attic.status.candidates.isEmpty)
  }

  @Test("a machine that was refused asks no more")
  func refused() async throws {
    let (desk, lap) = try await asked()
    try await desk.session.sync.change(.refuse(lap.id), .nobody)
    #expect(try await desk.status.candidates.isEmpty)
    #expect(try await desk.sync(repository).refused.isEmpty)
    #expect(try await desk.status.candidates.isEmpty)
  }

  @Test("a machine that has asked in one circle and makes another one takes no file out of that one's repository")
  func elsewhere() async throws {
    let (_, lap) = try await asked()
    try await lap.begin()
    let files = try await lap.session.sync.files(after: nil, puttingBack: false).files
    #expect(!files.isEmpty && files.allSatisfy { $0.contents != nil })
  }

  @Test("a machine that asks again takes its earlier request out of the repository")
  func askedTwice() async throws {
    let (desk, lap) = try await asked()
    try await desk.answer(lap)
    for machine in [desk, lap] { try await machine.sync(repository) }
    let first = try await lap.id
    try await lap.ask(repository)
    for machine in [lap, desk] { try await machine.sync(repository) }
    #expect(try await desk.status.candidates.map(\.id) == [lap.id])
    #expect(repository.tip[SyncPath.request(first).text] == nil && repository.tip[SyncPath.opening(first).text] == nil)
    try await desk.approve(lap, in: repository)
    for machine in [desk, lap] { try await machine.sync(repository) }
    #expect(try await lap.status.standing == .member)
  }
}
