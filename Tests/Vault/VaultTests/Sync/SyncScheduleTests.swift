import Primitives
import SecretModel
import Testing
import VaultDriver

@testable import Presence
@testable import Vault

@Suite("Random schedules of several machines", .timeLimit(.minutes(180)))
struct SyncScheduleTests {
  /// Whatever the machines did: they end with the same items, and every secret that one of them acknowledged is current,
  /// kept beside the current one, or was replaced or deleted by a machine that knew it.
  @Test("random schedules of syncing machines end in the same state, and lose no secret", .timeLimit(.minutes(180)))
  func schedules() async throws {
    let circles = try await ReadyCircles()
    for number in 1...Campaign.count(short: 12, long: 1_000) {
      var schedule = try Schedule(number, circles)
      try await schedule.run(steps: 40)
      try await schedule.check()
    }
  }
}

/// Three machines and their repository, and what each of them knew of the secrets.
private struct Schedule {
  private let number: Int
  private var random: Campaign.Generator
  private let repository: MemoryRepository
  private let machines: [SyncMachine]
  /// The names of the secrets that may be gone, since a machine that knew them replaced or deleted them.
  private var replaced: Set<String> = []
  private var written: [String: [String]] = [:]
  private var log: [String] = []

  init(_ number: Int, _ circles: ReadyCircles) throws {
    self.number = number
    random = Campaign.Generator("schedule \(number)")
    (machines, repository) = try circles.copy(number, &random)
  }

  mutating func run(steps: Int) async throws {
    for step in 1...steps {
      let place = Int.random(in: 0..<machines.count, using: &random)
      let machine = machines[place]
      let name = ["mail", "bank", "shop"].randomElement(using: &random) ?? "mail"
      switch Int.random(in: 0..<10, using: &random) {
      case 0..<4:
        let secret = "\(name) \(step) \(machine.name)"
        if let old = try await machine.get(name) { replaced.insert(old) }
        try await machine.set(name, secret)
        written[name, default: []].append(secret)
        log.append("\(machine.name) sets \(secret)")
      case 4:
        guard let old = try await machine.get(name) else { continue }
        replaced.insert(old)
        try await machine.delete(name)
        log.append("\(machine.name) deletes \(old)")
      case 5:
        // The program is killed: what it took is taken again, and what it was about to publish is not published.
        machine.forget()
        let receipt = try await machine.receive(repository.tip)
        #expect(
          !receipt.wentBack && !receipt.isMixed && receipt.refused.isEmpty,
          "killed \(machine.name): \(receipt) \(story)")
        _ = try await machine.session.sync.files(after: nil, puttingBack: false)
        log.append("\(machine.name) is killed")
      case 6:
        guard let kept = try await machine.status.kept.randomElement(using: &random) else { continue }
        // A decision replaces the current secret.
        if let old = try await machine.get(kept.item.description) { replaced.insert(old) }
        try await machine.resolve(.use(kept: kept.id))
        log.append("\(machine.name) uses the kept \(kept.item)")
      default:
        let receipt = try await machine.sync(repository)
        log.append("\(machine.name) syncs")
        #expect(!receipt.wentBack && !receipt.isMixed && receipt.refused.isEmpty, "\(receipt) \(story)")
      }
    }
  }

  private var story: Comment { "schedule \(number) of WHORL_SEED=\(Campaign.seed): \(log.joined(separator: "; "))" }

  mutating func check() async throws {
    for _ in 1...4 {
      for machine in machines {
        let receipt = try await machine.sync(repository)
        #expect(
          !receipt.wentBack && !receipt.isMixed && receipt.refused.isEmpty, "\(machine.name): \(receipt) \(story)")
      }
    }
    let items = try await machines[0].items
    let kept = try await machines[0].status.kept.map(\.id).sorted()
    for machine in machines {
      let status = try await machine.status
      #expect(try await machine.items == items, "\(machine.name): \(status) \(story)")
      #expect(try await machine.status.kept.map(\.id).sorted() == kept, story)
      #expect(try await machine.status.pending == 0, story)
    }
    // Choose every kept version once, to see its secret.
    var seen = Set(items.values)
    while let next = try await machines[0].status.kept.first {
      try await machines[0].resolve(.use(kept: next.id))
      if let secret = try await machines[0].get(next.item.description) { seen.insert(secret) }
    }
    for secret in written.values.joined() where !replaced.contains(secret) {
      #expect(seen.contains(secret), "\(secret) is gone: \(story.rawValue)")
    }
  }
}
