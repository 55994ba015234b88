import Foundation
import Primitives
import SecretModel
import Testing

@testable import Presence
@testable import Vault
@testable import VaultItems
@testable import VaultStore
@testable import VaultSync

/// A member that lies about how many changes it has made.
@Suite("The clocks of a synced item")
struct LyingClockTests {
  private let repository = MemoryRepository()

  @Test("a clock far ahead of all others is refused with its writer's name, and the others go on sharing")
  func farAhead() async throws {
    let machines = try await repository.circle("desk", "lap")
    let (desk, lap) = (machines[0], machines[1])
    try await desk.set("shared", "1")
    for machine in machines { try await machine.sync(repository) }
    let valid = try Forgery(by: try await lap.circle)
    for (number, name) in [(0x1F_FFFF_FFFF_FFFF, "end"), (0x1_0000_0000, "far"), (0x10_1000, "near")]
      as [(UInt64, String)]
    {
      let (path, contents) = try valid.named(name) { $0.clock = LogicalClock($0.epoch, number) }.file()
      var files = repository.tip
      files[path] = contents
      let receipt = try await desk.receive(files)
      let refusal = try #require(receipt.refused.first, "\(name)")
      #expect(refusal.path == path)
      #expect(refusal.reason.contains("“lap”"), "\(refusal.reason)")
      #expect(try await desk.get(name) == nil)
      _ = try await desk.receive(repository.tip)
    }
    try await desk.set("shared", "2")
    for machine in machines { try await machine.sync(repository) }
    #expect(try await lap.get("shared") == "2")
  }

  @Test("of two versions with the same clock all machines choose the same one, and keep the other for a person")
  func sameClock() async throws {
    let machines = try await repository.circle("desk", "attic", "liar")
    let valid = try Forgery(by: try await machines[2].circle)
    let files = try [AccessControl.Constraint.presence, .none].map { rule in
      try valid.named("mail") { $0.item.access = AccessControl(rule) }.file()
    }
    for (machine, order) in [(machines[0], files), (machines[1], files.reversed())] {
      for (path, contents) in order {
        _ = try await machine.receive(repository.tip.merging([path: contents]) { $1 })
      }
    }
    var current: [AccessControl] = []
    for machine in machines[...1] {
      #expect(try await machine.status.kept.map(\.item.description) == ["mail"], "\(machine.name)")
      current += try await machine.session.allItems(ItemSearch(groups: .all, synchronizable: .yes)).map(\.access)
    }
    #expect(current.count == 2 && Set(current).count == 1)
  }

  @Test("versions that together close the gap to a great clock are accepted, in whatever order they arrive")
  func closedGap() async throws {
    let machines = try await repository.circle("desk", "lap")
    let valid = try Forgery(by: try await machines[1].circle)
    var files = repository.tip
    for number in 1...4 as ClosedRange<UInt64> {
      let (path, contents) = try valid.named("step\(number)") {
        $0.clock = LogicalClock($0.epoch, number * 1_000_000)
      }.file()
      files[path] = contents
    }
    #expect(try await machines[0].receive(files).refused.isEmpty)
    #expect(try await machines[0].items.count == 4)
  }

  @Test("the clock of a member that lies is gone with its membership, and what it wrote loses to every later change")
  func removedLiar() async throws {
    let machines = try await repository.circle("desk", "lap", "liar")
    let (desk, lap) = (machines[0], machines[1])
    let valid = try Forgery(by: try await machines[2].circle)
    // Its steps are as long as they may be.
    var files = repository.tip
    for number in 1...8 as ClosedRange<UInt64> {
      let (path, contents) = try valid.named(number == 8 ? "mail" : "step\(number)") {
        $0.clock = LogicalClock($0.epoch, number << 20)
      }.file()
      files[path] = contents
    }
    repository.put(files)
    for machine in [desk, lap] {
      let receipt = try await machine.sync(repository)
      #expect(receipt.refused.isEmpty, "\(receipt)")
      #expect(try await machine.get("mail") == "iron")
    }
    try await desk.remove(machines[2])
    for machine in [desk, lap] { try await machine.sync(repository) }
    try await lap.confirm()
    for machine in [lap, desk] { try await machine.sync(repository) }
    try await lap.set("mail", "gold")
    for machine in [lap, desk] { try await machine.sync(repository) }
    #expect(try await desk.get("mail") == "gold")
    for machine in [desk, lap] {
      let clock = try await machine.vault.clock
      #expect(try await clock.epoch == machine.circle.epoch)
      #expect(clock < LogicalClock(clock.epoch, 100), "\(machine.name): \(clock)")
    }
  }

  @Test("a great clock of an earlier list of members is accepted, since every later version comes after it")
  func earlierList() async throws {
    let machines = try await repository.circle("desk", "lap", "attic")
    let (desk, lap) = (machines[0], machines[1])
    let valid = try Forgery(by: try await lap.circle)
    try await machines[2].leave()
    for machine in [machines[2], desk, lap] { try await machine.sync(repository) }
    let members = try await desk.circle.members
    let beyond = try valid.named("bank") {
      $0.clock = LogicalClock($0.epoch, 0x20_0000_0000_0000)
    }.file(for: members)
    #expect(
      try await desk.receive(repository.tip.merging([beyond.path: beyond.contents]) { $1 }).refused.map(\.path)
        == [beyond.path])
    let (path, contents) = try valid.named("mail") {
      $0.clock = LogicalClock($0.epoch, 0x1F_FFFF_FFFF_FFFF)
    }.file(for: members)
    repository.put(repository.tip.merging([path: contents]) { $1 })
    for machine in [desk, lap] { #expect(try await machine.sync(repository).refused.isEmpty) }
    #expect(try await desk.get("mail") == "iron")
    try await desk.set("mail", "gold")
    for machine in [desk, lap] { try await machine.sync(repository) }
    #expect(try await lap.get("mail") == "gold")
  }

  /// With the longest steps it would take 2^33 versions to come here.
  @Test("where a member that lies has used up all numbers, the others share again after its removal")
  func usedUpNumbers() async throws {
    let machines = try await repository.circle("desk", "lap", "liar")
    let (desk, lap) = (machines[0], machines[1])
    let end: UInt64 = 0x1F_FFFF_FFFF_FFFF
    for machine in [desk, lap] { try await machine.vault.count(to: end - 1) }
    let valid = try Forgery(by: try await machines[2].circle)
    let (path, contents) = try valid.named("mail") { $0.clock = LogicalClock($0.epoch, end) }.file()
    repository.put(repository.tip.merging([path: contents]) { $1 })
    for machine in [desk, lap] {
      #expect(try await machine.sync(repository).refused.isEmpty)
      await #expect(throws: VaultError.self) { try await machine.set("bank", "silver") }
    }
    try await desk.remove(machines[2])
    for machine in [desk, lap] { try await machine.sync(repository) }
    try await lap.confirm()
    try await lap.set("mail", "gold")
    try await desk.set("bank", "silver")
    for machine in [lap, desk, lap] { try await machine.sync(repository) }
    for machine in [desk, lap] {
      #expect(try await machine.items == ["mail": "gold", "bank": "silver"], "\(machine.name)")
      #expect(try await machine.vault.clock < LogicalClock(machine.circle.epoch, 100))
    }
  }

  @Test(
    "a change after a new list of members is current beside one that was made at the same time under the list before")
  func orderOfLists() async throws {
    let machines = try await repository.circle("desk", "lap", "attic")
    let (desk, lap) = (machines[0], machines[1])
    try await desk.set("mail", "old")
    for machine in machines { try await machine.sync(repository) }
    // It makes many changes without seeing that one of the machines leaves.
    for number in 1...5 { try await lap.set("mail", "silver \(number)") }
    try await machines[2].leave()
    for machine in [machines[2], desk] { try await machine.sync(repository) }
    try await desk.set("mail", "gold")
    for machine in [desk, lap, desk, lap] { try await machine.sync(repository) }
    for machine in [desk, lap] {
      #expect(try await machine.get("mail") == "gold")
      #expect(try await machine.status.kept.map(\.item.description) == ["mail"])
    }
  }

  @Test("a clock of builds that wrote a number alone is read, and comes before the clocks of every list of members")
  func numberAlone() throws {
    let read = try JSONDecoder().decode([LogicalClock].self, from: Data("[900,[1,1],[2,1]]".utf8))
    #expect(read == [LogicalClock(0, 900), LogicalClock(1, 1), LogicalClock(2, 1)] && read == read.sorted())
    for text in ["[-1]", "[[1]]", "[[1,-1]]", "[[1,1,1]]", "[[1,18446744073709551616]]", #"["1"]"#] {
      #expect(throws: (any Error).self) { try JSONDecoder().decode([LogicalClock].self, from: Data(text.utf8)) }
    }
  }
}

extension Vault {
  /// As if its machine had taken versions up to this number.
  fileprivate func count(to number: UInt64) throws {
    let epoch = try circle.epoch
    try presence.passcodes.store.commit { change in
      var progress = try change.syncProgress()
      progress.clock = LogicalClock(epoch, number)
      try change.put(progress)
    }
  }
}
