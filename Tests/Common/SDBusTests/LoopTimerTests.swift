import SDBus
import Testing

@Suite("A timer of the bus loop")
struct LoopTimerTests {
  @Test("a timer of the bus loop runs its closure once, and not too early")
  func fires() async throws {
    let runs = Collected<UInt64>()
    let start = LoopClock.now
    let timer = LoopTimer(after: .milliseconds(50)) { runs.append(LoopClock.now) }
    #expect(try await eventually { runs.elements.count == 1 })
    try await Task.sleep(for: .milliseconds(100))
    #expect(runs.elements.count == 1)
    #expect(try #require(runs.elements.first) - start >= 50_000)
    withExtendedLifetime(timer) {}
  }

  @Test("a timer of the bus loop does not run after it was cancelled, and is released")
  func cancelled() async throws {
    weak var timer: LoopTimer?
    do {
      let made = LoopTimer(after: .seconds(600)) { Issue.record("it was cancelled") }
      made.cancel()
      timer = made
    }
    for _ in 0..<1_000 where timer != nil { try await Task.sleep(for: .milliseconds(1)) }
    #expect(timer == nil, "the loop keeps it until its time has come")
  }
}
