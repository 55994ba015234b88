import Primitives
import Testing

@Suite("Pauses")
struct PauseTests {
  @Test("a pause ends after its time, at once if the time is not positive", arguments: [-1, 0, 20])
  func end(_ milliseconds: Int) async throws {
    let start = ContinuousClock.now
    try await Pause.wait(for: .milliseconds(milliseconds))
    #expect(ContinuousClock.now - start >= .milliseconds(milliseconds))
  }

  @Test("a pause ends with an error when its task is cancelled, before the pause or in it", arguments: [true, false])
  func cancelled(_ before: Bool) async throws {
    let (begun, begin) = AsyncStream.makeStream(of: Void.self)
    let task = Task {
      if before { for await _ in begun {} }
      try await Pause.wait(for: .seconds(3_600))
    }
    if !before { try await Pause.wait(for: .milliseconds(20)) }
    task.cancel()
    begin.finish()
    await #expect(throws: CancellationError.self) { try await task.value }
  }

  @Test("pauses of many tasks at once all end")
  func many() async throws {
    let ended = try await withThrowingTaskGroup(of: Void.self, returning: Int.self) { group in
      for number in 0..<200 { group.addTask { try await Pause.wait(for: .microseconds(number * 50)) } }
      return try await group.reduce(0) { count, _ in count + 1 }
    }
    #expect(ended == 200)
  }
}
