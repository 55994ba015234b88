import Primitives
import Synchronization
import Testing

@Suite("A fair queue", .timeLimit(.minutes(1)))
struct FairQueueTests {
  /// The order in which calls had their turns, and the most turns at a time.
  private final class Record: Sendable {
    private let state = Mutex((order: [String](), running: 0, most: 0))

    func run(_ name: String) async {
      state.withLock { state in
        state.order.append(name)
        state.running += 1
        state.most = max(state.most, state.running)
      }
      for _ in 1...20 { await Task.yield() }
      state.withLock { $0.running -= 1 }
    }

    var order: [String] { state.withLock { $0.order } }
    var most: Int { state.withLock { $0.most } }
  }

  /// Holds all turns of a queue while these calls queue up in this order, then releases them.
  private func serve(_ names: [String], by queue: FairQueue<String>, width: Int = 1, cancelling cancelled: Int? = nil)
    async throws -> Record
  {
    let record = Record()
    let (gate, open) = AsyncStream.makeStream(of: Void.self)
    let holding = GrowingCount()
    let holders = (1...width).map { number in
      Task {
        let turn = try await queue.turn(for: "holder \(number)")
        holding.increment()
        for await _ in gate {}
        _ = consume turn
      }
    }
    await holding.reaches(width)
    var waiting: [Task<Void, any Error>] = []
    for (place, name) in names.enumerated() {
      waiting.append(
        Task {
          let turn = try await queue.turn(for: String(name.prefix(1)))
          await record.run(name)
          _ = consume turn
        })
      while queue.count < place + 1 { await Task.yield() }
    }
    if let cancelled {
      waiting[cancelled].cancel()
      await #expect(throws: QueueRefusal.cancelled) { try await waiting[cancelled].value }
      waiting.remove(at: cancelled)
    }
    open.finish()
    for task in holders + waiting { try await task.value }
    return record
  }

  @Test("a fair queue gives one turn at a time, and a group with many calls only delays itself")
  func fair() async throws {
    let record = try await serve(["a1", "a2", "a3", "b1", "c1", "b2"], by: FairQueue())
    #expect(record.order == ["a1", "b1", "c1", "a2", "b2", "a3"])
    #expect(record.most == 1)
  }

  @Test("a fair queue gives the turn of a cancelled call to the next one")
  func cancelled() async throws {
    let record = try await serve(["a1", "b1", "c1"], by: FairQueue(), cancelling: 1)
    #expect(record.order == ["a1", "c1"])
  }

  @Test("a fair queue gives a group that is limited to one turn no second one at the same time")
  func oneOfGroup() async throws {
    let record = try await serve(["a1", "a2", "a3"], by: FairQueue(width: 2), width: 2)
    #expect(record.order == ["a1", "a2", "a3"])
    #expect(record.most == 1)
    let queue = FairQueue<String>(width: 2)
    let first = try await queue.turn(for: "a")
    let second = Task { _ = try await queue.turn(for: "a") }
    while queue.count < 1 { await Task.yield() }
    // The other place is free for another group.
    _ = try await queue.turn(for: "b")
    #expect(queue.count == 1)
    _ = consume first
    try await second.value
  }

  @Test("a fair queue gives as many turns at a time as its width")
  func width() async throws {
    let record = try await serve(["a1", "b1", "c1", "d1"], by: FairQueue(width: 2), width: 2)
    #expect(record.most == 2)
    let queue = FairQueue(width: 2)
    let first = try await queue.turn()
    let second = try await queue.turn()
    let third = Task { _ = try await queue.turn() }
    while queue.count < 1 { await Task.yield() }
    _ = consume first
    try await third.value
    _ = consume second
  }

  @Test("a fair queue refuses a call of a group whose queue is full, and no call of another group")
  func waitingLimit() async throws {
    let queue = FairQueue<String>(waitingLimit: 1)
    let turn = try await queue.turn(for: "a")
    let waiting = Task { _ = try await queue.turn(for: "a") }
    while queue.count < 1 { await Task.yield() }
    await #expect(throws: QueueRefusal.tooManyWait) { _ = try await queue.turn(for: "a") }
    let other = Task { _ = try await queue.turn(for: "b") }
    while queue.count < 2 { await Task.yield() }
    _ = consume turn
    try await waiting.value
    try await other.value
  }

  @Test("a fair queue gives no turn to a call that was cancelled before it began to wait")
  func cancelledBefore() async throws {
    let queue = FairQueue<String>()
    let turn = try await queue.turn(for: "a")
    let late = Task {
      withUnsafeCurrentTask { $0?.cancel() }
      _ = try await queue.turn(for: "b")
    }
    await #expect(throws: QueueRefusal.cancelled) { try await late.value }
    _ = consume turn
    _ = try await queue.turn(for: "c")
  }
}
