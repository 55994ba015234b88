import SessionPrompts
import Synchronization
import Testing

@Suite("Turns of prompts")
struct PromptTurnsTests {
  /// The order in which requests were served, and how many ran at once.
  private final class Record: Sendable {
    private let state = Mutex((order: [String](), running: 0, most: 0))

    func run(_ name: String) async {
      state.withLock { state in
        state.order.append(name)
        state.running += 1
        state.most = max(state.most, state.running)
      }
      await Task.yield()
      state.withLock { $0.running -= 1 }
    }

    var order: [String] { state.withLock { $0.order } }
    var most: Int { state.withLock { $0.most } }
  }

  /// Holds the turn until it is let go, with these requests behind it in this order.
  private func serve(_ names: [String], cancelling cancelled: Int? = nil) async throws -> Record {
    let (turns, record) = (PromptTurns(), Record())
    let (gate, open) = AsyncStream.makeStream(of: Void.self)
    let (begun, begin) = AsyncStream.makeStream(of: Void.self)
    let first = Task {
      await turns.run(for: "first") {
        begin.finish()
        for await _ in gate {}
      }
    }
    for await _ in begun {}
    var waiting: [Task<Void?, Never>] = []
    for (place, name) in names.enumerated() {
      waiting.append(Task { await turns.run(for: String(name.prefix(1))) { await record.run(name) } })
      while turns.count < place + 1 { await Task.yield() }
    }
    if let cancelled {
      waiting[cancelled].cancel()
      #expect(await waiting[cancelled].value == nil)
    }
    open.finish()
    await first.value
    for task in waiting { await task.value }
    return record
  }

  @Test("are taken one at a time, and many requests of one program delay that program alone")
  func fair() async throws {
    let record = try await serve(["a1", "a2", "a3", "b1", "c1", "b2"])
    #expect(record.order == ["a1", "b1", "c1", "a2", "b2", "a3"])
    #expect(record.most == 1)
  }

  @Test("a request that is cancelled gives its turn to the next one")
  func cancelled() async throws {
    let record = try await serve(["a1", "b1", "c1"], cancelling: 1)
    #expect(record.order == ["a1", "c1"])
  }
}
