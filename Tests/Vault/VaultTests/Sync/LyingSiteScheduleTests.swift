import Primitives
import SecretModel
import Testing
import VaultDriver

@testable import Presence
@testable import Vault
@testable import VaultItems
@testable import VaultStore
@testable import VaultSync

@Suite("Random schedules with a repository that lies", .timeLimit(.minutes(180)))
struct LyingSiteScheduleTests {
  /// Whatever the hosting site serves, and whatever its machines do that were let in by one person or removed by another:
  /// no machine publishes anything that somebody reads whom its own person has not let in or confirmed.
  @Test("no machine publishes to one that its person has not confirmed, whatever the repository serves")
  func schedules() async throws {
    let circles = try await ReadyCircles()
    for number in 1...Campaign.count(short: 6, long: 500) {
      var schedule = try LyingSchedule(number, circles)
      try await schedule.run(steps: 40)
    }
  }
}

private struct LyingSchedule {
  private let number: Int
  private var random: Campaign.Generator
  private let repository: MemoryRepository
  private var machines: [SyncMachine]
  /// For each machine, the names of those that its person has confirmed, with itself.
  private var confirmed: [String: Set<String>] = [:]
  private var log: [String] = []

  init(_ number: Int, _ circles: ReadyCircles) throws {
    self.number = number
    random = Campaign.Generator("lying site \(number)")
    (machines, repository) = try circles.copy(number, &random)
    for machine in machines { confirmed[machine.name] = ["desk", "lap", "attic"] }
  }

  private var story: Comment { "schedule \(number) of WHORL_SEED=\(Campaign.seed): \(log.joined(separator: "; "))" }

  mutating func run(steps: Int) async throws {
    for step in 1...steps {
      let place = Int.random(in: 0..<machines.count, using: &random)
      let machine = machines[place]
      switch Int.random(in: 0..<12, using: &random) {
      case 0..<3:
        let name = ["mail", "bank", "shop"].randomElement(using: &random) ?? "mail"
        log.append("\(machine.name) sets \(name)")
        try await machine.set(name, "\(name) \(step) \(machine.name)")
      case 3..<7: try await sync(machine, puttingBack: Bool.random(using: &random))
      case 7: try await remove(by: machine)
      case 8 where machines.count < 6: try await admit("thief \(machines.count)", by: machine)
      case 9: try await confirm(machine)
      default: lie()
      }
    }
    for machine in machines {
      try await confirm(machine)
      try await sync(machine, puttingBack: true)
    }
  }

  /// The hosting site serves an earlier state, or a mixture of two.
  private mutating func lie() {
    let old = repository[Int.random(in: 0..<repository.count, using: &random)]
    switch Int.random(in: 0..<3, using: &random) {
    case 0:
      log.append("the site serves an earlier state")
      repository.put(old)
    case 1:
      log.append("the site adds what was there earlier")
      repository.put(repository.tip.merging(old) { now, _ in now })
    default:
      log.append("the site puts some earlier files in the place of later ones")
      let chosen = old.filter { _ in Bool.random(using: &random) }
      repository.put(repository.tip.merging(chosen) { $1 })
    }
  }

  /// Failures are part of it: what was refused is not published.
  private mutating func sync(_ machine: SyncMachine, puttingBack: Bool) async throws {
    let count = repository.count
    log.append("\(machine.name) syncs\(puttingBack ? ", putting back" : "")")
    _ = try? await machine.sync(repository, puttingBack: puttingBack)
    try await check(machine, since: count)
  }

  private func check(_ machine: SyncMachine, since count: Int) async throws {
    guard repository.count > count else { return }
    let before = repository[count - 1]
    let allowed = try #require(confirmed[machine.name])
    var strangers: [(name: String, keys: EncryptedFile.KeyPair)] = []
    for other in machines where !allowed.contains(other.name) {
      strangers.append((other.name, try await other.vault.circle.keys.encryption))
    }
    for state in count..<repository.count {
      for (path, file) in repository[state] where path.hasPrefix("items/") && before[path] != file {
        for (name, keys) in strangers where (try? AgeMessage.open(file, with: keys)) != nil {
          // What another machine has published already may come back, also under the name of a version that is kept.
          let isNew = (0..<state).allSatisfy { !repository[$0].values.contains(file) }
          #expect(!isNew, "\(name) reads what \(machine.name) published: \(story)")
        }
      }
    }
  }

  private mutating func remove(by machine: SyncMachine) async throws {
    guard let other = machines.filter({ $0.name != machine.name }).randomElement(using: &random),
      (try? await machine.remove(other)) != nil
    else { return }
    log.append("\(machine.name) removes \(other.name)")
    confirmed[machine.name]?.remove(other.name)
  }

  /// A machine's person lets another one in. The others have not been asked.
  private mutating func admit(_ name: String, by machine: SyncMachine) async throws {
    let thief = try await SyncMachine(name)
    let count = repository.count
    guard (try? await thief.ask(repository)) != nil else { return }
    let isIn = (try? await machine.approve(thief, in: repository)) != nil
    log.append("\(machine.name) lets \(name) in: \(isIn)")
    machines.append(thief)
    confirmed[name] = [name]
    if isIn {
      confirmed[machine.name]?.insert(name)
      // The person at it has confirmed the list that it was let into.
      confirmed[name]?.formUnion(try await machine.vault.circle.memberNames(of: machines))
    }
    try await check(machine, since: count)
  }

  private mutating func confirm(_ machine: SyncMachine) async throws {
    guard let status = try? await machine.status, !status.unconfirmed.isEmpty || status.isForked,
      (try? await machine.confirm()) != nil
    else { return }
    let members = try await machine.vault.circle.memberNames(of: machines)
    log.append("\(machine.name) confirms \(members.sorted().joined(separator: " "))")
    confirmed[machine.name] = members.union([machine.name])
  }
}

extension Circle {
  /// The test's names of the members: a circle may number those of the same name.
  fileprivate func memberNames(of machines: [SyncMachine]) async throws -> Set<String> {
    var names: Set<String> = []
    for machine in machines {
      guard let own = try? await machine.vault.circle, try last.member(own.id) != nil else { continue }
      names.insert(machine.name)
    }
    return names
  }
}
