import Synchronization
import Testing

@testable import Presence
@testable import Vault
@testable import VaultItems
@testable import VaultStore

@Suite("The queue for deriving keys from passcodes", .timeLimit(.minutes(1)))
struct ScryptQueueTests {
  /// Holds a turn until the test ends it.
  private final class Holder: Sendable {
    private let ending = AsyncStream.makeStream(of: Void.self)
    private let given = Given()
    let task: Task<Void, any Error>

    init(_ queue: ScryptQueue, _ user: UInt32) {
      task = Task { [given, stream = ending.stream] in
        let turn: ScryptQueue.Turn
        do {
          turn = try await queue.turn(for: user)
        } catch {
          given.refused.store(true, ordering: .releasing)
          throw error
        }
        given.flag.store(true, ordering: .releasing)
        for await _ in stream {}
        _ = consume turn
      }
    }

    var hasTurn: Bool { given.flag.load(ordering: .acquiring) }
    var isRefused: Bool { given.refused.load(ordering: .acquiring) }

    func waitForTurn() async throws {
      while !hasTurn { try await Task.sleep(for: .milliseconds(2)) }
    }

    func end() async throws { try await Self.end([self]) }

    /// Ends them together, since they may get their turns in another order.
    static func end(_ holders: [Holder]) async throws {
      for holder in holders { holder.ending.continuation.finish() }
      for holder in holders { try await holder.task.value }
    }
  }

  private final class Given: Sendable {
    let flag = Atomic(false)
    let refused = Atomic(false)
  }

  private let settle = Duration.milliseconds(50)

  @Test("one scrypt derivation per user runs at a time, and two in all")
  func width() async throws {
    let queue = ScryptQueue()
    let (first, second) = (Holder(queue, 1), Holder(queue, 2))
    try await first.waitForTurn()
    try await second.waitForTurn()
    let again = Holder(queue, 1)
    let third = Holder(queue, 3)
    try await Task.sleep(for: settle)
    #expect(!again.hasTurn && !third.hasTurn)
    try await first.end()
    // One place is free: one of the two waiting users gets it.
    while !again.hasTurn, !third.hasTurn { try await Task.sleep(for: .milliseconds(2)) }
    try await Task.sleep(for: settle)
    #expect(again.hasTurn != third.hasTurn)
    try await second.end()
    try await again.waitForTurn()
    try await third.waitForTurn()
    try await again.end()
    try await third.end()
  }

  @Test("a user with many passcode tries waits behind users with one")
  func fairness() async throws {
    let queue = ScryptQueue()
    let (busy, other) = (Holder(queue, 1), Holder(queue, 2))
    try await busy.waitForTurn()
    try await other.waitForTurn()
    let many = (1...4).map { _ in Holder(queue, 1) }
    try await Task.sleep(for: settle)
    let late = Holder(queue, 3)
    try await Task.sleep(for: settle)
    try await busy.end()
    try await late.waitForTurn()
    #expect(!many.contains { $0.hasTurn })
    try await Holder.end([other, late] + many)
  }

  @Test("512 scrypt derivations may wait, the next gets a busy error, and a cancelled one frees its place")
  func limit() async throws {
    let queue = ScryptQueue()
    let first = Holder(queue, 1)
    try await first.waitForTurn()
    // The last to ask is refused.
    var waiting = (1...513).map { _ in Holder(queue, 1) }
    while !waiting.contains(where: \.isRefused) { try await Task.sleep(for: .milliseconds(2)) }
    let index = waiting.firstIndex { $0.isRefused }
    let refused = try #require(index)
    await #expect(throws: VaultError.busy("512 passcodes and passwords wait to be checked")) {
      try await waiting[refused].task.value
    }
    waiting.remove(at: refused)
    waiting[3].task.cancel()
    await #expect(throws: VaultError.cancelled) { try await waiting[3].task.value }
    waiting.remove(at: 3)
    let instead = Holder(queue, 1)
    try await Task.sleep(for: settle)
    #expect(!instead.hasTurn && !instead.isRefused)
    try await Holder.end([first, instead] + waiting)
  }

  @Test("a scrypt derivation that is cancelled before it waits never gets a turn")
  func cancelledBefore() async throws {
    let queue = ScryptQueue()
    let first = Holder(queue, 1)
    try await first.waitForTurn()
    let late = Task {
      withUnsafeCurrentTask { $0?.cancel() }
      let turn = try await queue.turn(for: 1)
      _ = consume turn
    }
    await #expect(throws: VaultError.cancelled) { try await late.value }
    try await first.end()
    let next = Holder(queue, 1)
    try await next.waitForTurn()
    try await next.end()
  }
}
