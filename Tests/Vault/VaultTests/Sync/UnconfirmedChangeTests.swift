import Keys
import SecretModel
import Testing
import VaultDriver

@testable import Presence
@testable import Vault
@testable import VaultItems
@testable import VaultStore
@testable import VaultSync

@Suite("A change of the members that nobody has confirmed")
struct UnconfirmedChangeTests {
  private let repository = MemoryRepository()

  /// Two machines, and a thief whom the second one has let in. The owner of the first one has not said yes.
  private func withThief() async throws -> (desk: SyncMachine, lap: SyncMachine) {
    let machines = try await repository.circle("desk", "lap")
    try await repository.admit(try await SyncMachine("thief"), by: machines[1])
    try await machines[0].sync(repository)
    return (machines[0], machines[1])
  }

  private func expectNothingPublished(by machine: SyncMachine) async throws {
    let tip = repository.tip
    try await machine.set("mail", "gold")
    try await machine.sync(repository)
    #expect(repository.tip == tip)
  }

  @Test("a later list of members that needs nobody's yes does not bring in an earlier one that needs it")
  func later() async throws {
    let (desk, lap) = try await withThief()
    try await lap.leave()
    try await lap.sync(repository)
    try await desk.sync(repository)
    #expect(try await desk.status.members.map(\.name).sorted() == ["desk", "thief"])
    #expect(try await desk.status.unconfirmed.first?.added == ["thief"])
    try await expectNothingPublished(by: desk)
  }

  @Test("a machine's change of its own entry confirms no change of another member")
  func ownEntry() async throws {
    let (desk, _) = try await withThief()
    try await desk.renewRecoveryKey()
    #expect(try await desk.status.unconfirmed.first?.added == ["thief"])
    try await expectNothingPublished(by: desk)
  }

  @Test("a machine's own change that is not published yet confirms no change of another member that came first")
  func ownUnpublished() async throws {
    let machines = try await repository.circle("desk", "lap")
    try await machines[0].renewRecoveryKey()
    try await repository.admit(try await SyncMachine("thief"), by: machines[1])
    try await machines[0].sync(repository)
    #expect(try await machines[0].status.unconfirmed.first?.added == ["thief"])
    try await expectNothingPublished(by: machines[0])
  }

  @Test("a machine that removes another one confirms nobody whom a third one has let in")
  func ownRemoval() async throws {
    let (desk, lap) = try await withThief()
    try await desk.remove(lap)
    #expect(try await desk.status.unconfirmed.first?.added == ["thief"])
    try await expectNothingPublished(by: desk)
  }

  @Test("a machine lets nobody in before its owner has confirmed what another one has changed")
  func approval() async throws {
    let (desk, _) = try await withThief()
    let attic = try await SyncMachine("attic")
    try await attic.ask(repository)
    try await desk.sync(repository)
    let id = try await attic.id
    await #expect(throws: VaultError.invalidRequest("confirm the earlier changes first")) {
      try await desk.approve(id)
    }
  }

  @Test("a machine that is gone from the list of members cannot be removed once more")
  func gone() async throws {
    let machines = try await repository.circle("desk", "lap")
    var circle = try await machines[0].circle
    let lap = try await machines[1].id
    try circle.remove(lap)
    #expect(throws: VaultError.itemGone) { try circle.remove(lap) }
    #expect(circle.chain.count == circle.published + 1)
  }

  @Test("a machine whose owner has refused shares and takes nothing, also where no change is left to confirm")
  func refused() async throws {
    let machines = try await repository.circle("desk", "lap")
    try await machines[0].session.sync.change(.reject, .nobody)
    try await expectNothingPublished(by: machines[0])
    try await machines[1].set("bank", "silver")
    try await machines[1].sync(repository)
    try await machines[0].sync(repository)
    #expect(try await machines[0].get("bank") == nil)
  }

  @Test("a file that no member has signed makes no second list of members of one that is known")
  func unsigned() async throws {
    let machines = try await repository.circle("desk", "lap")
    let (path, thief) = (SyncPath.circle(2).text, try MemberKeys.make())
    let circle = try await machines[1].vault.circle
    let forged = try CircleRecord(
      after: circle.chain[0], circle: circle.circle, members: circle.chain[0].members, #require(circle.contents),
      by: thief, as: circle.id)
    for file in [forged.bytes, Array("nonsense\n".utf8), repository.tip[SyncPath.circle(1).text] ?? []] {
      _ = try await machines[0].receive(repository.tip.merging([path: file]) { $1 })
      #expect(try await !machines[0].status.isForked)
      _ = try await machines[0].receive(repository.tip)
    }
  }
}

@Suite("Changes of a member's entry in the list")
struct MemberEntryTests {
  private let repository = MemoryRepository()

  private static let other = Result { try MemberKeys.make().encryption.publicKey }

  /// Changes of an entry, and whether one's own needs nobody's yes.
  enum Change: CaseIterable {
    case keysGivenUp, newRecoveryKey, newClassKey, newPasscodeKey

    func entry(of member: Member, _ keys: MemberKeys) throws -> Member {
      var classes: [Accessibility: AgePublicKey] = [:]
      for each in Accessibility.allCases { classes[each] = try member.locks.recipient(of: each) }
      let other = try MemberEntryTests.other.get()
      var (recovery, passcode) = (try member.recovery, try member.locks.passcodeRecipient)
      switch self {
      case .keysGivenUp: (classes, passcode) = ([:], nil)
      case .newRecoveryKey: recovery = other
      case .newClassKey: classes[.whenUnlocked] = other
      case .newPasscodeKey: passcode = other
      }
      return Member(
        keys, recovery: recovery, salt: member.salt.bytes,
        MemberLocks(classes: classes, passcode: passcode, tier: .keyFile))
    }
  }

  @Test("a member gives up keys of its own without anybody's yes, and every other change of an entry needs one")
  func entries() async throws {
    let machines = try await repository.circle("desk", "lap")
    let circle = try await machines[1].vault.circle
    let contents = try #require(circle.contents)
    for change in Change.allCases {
      for (id, keys) in [(circle.id, circle.keys), (try await machines[0].id, try await machines[0].vault.circle.keys)]
      {
        var members = circle.members
        for index in members.indices where try members[index].id == id {
          members[index] = try change.entry(of: members[index], keys)
        }
        let list = try CircleRecord(
          after: circle.last, circle: circle.circle, members: members, contents, by: circle.keys, as: circle.id)
        let needsNobody = try MemberListChange(from: circle.last, to: list).needsNobody
        #expect(needsNobody == (change == .keysGivenUp && id == circle.id), "\(change) of \(id)")
      }
    }
  }
}

@Suite("The names of machines")
struct MachineNameTests {
  /// As they look, each is `lap` or `desk (2)`.
  static let alike = [
    "lap\u{200B}", "\u{FEFF}lap", "l\u{AD}ap", "la\u{34F}p", "lap\u{FE0F}", "\u{2066}lap\u{2069}", "lap\u{E0061}",
    " lap", "lap\u{A0}", "lap\u{3164}", "lap\n", "LAP", "\u{202E}lap", "lap\u{7}", "DESK\u{2003}(2)", "desk  (2)",
  ]

  @Test("a name that looks like another machine's gets a number", arguments: alike)
  func lookalike(_ name: String) {
    let shown = MachineName.shown(name)
    #expect(MachineName.distinct(shown, from: ["lap", "desk (2)"]) == "\(shown) (2)")
    let isPlain = shown.unicodeScalars.allSatisfy { $0.isASCII }
    #expect(isPlain)
  }

  @Test("a name in any script is shown as it is, and one of which nothing is seen is called one without a name")
  func ordinary() {
    for name in ["pc de Zoë", "ノート 1", "лэптоп", "laptop-42.example"] {
      #expect(MachineName.shown(name) == name && MachineName.distinct(name, from: ["lap"]) == name)
    }
    #expect(MachineName.shown("\u{200B}\u{202E}") == "a machine without a name")
    #expect(MachineName.shown(String(repeating: "e\u{301}", count: 100)).unicodeScalars.count <= 64)
  }
}
