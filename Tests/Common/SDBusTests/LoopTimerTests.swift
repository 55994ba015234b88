import SDBus
import Testing

@Suite("A timer of the bus loop")
struct LoopTimerTests {
  @Test("runs its closure once, not before its time")
  func fires() async throws {
    let runs = Collected<UInt64>()
    let start = BusLoop.now
    let timer = LoopTimer(after: .milliseconds(50)) { runs.append(BusLoop.now) }
    #expect(try await eventually { runs.elements.count == 1 })
    try await Task.sleep(for: .milliseconds(100))
    #expect(runs.elements.count == 1)
    #expect(try #require(runs.elements.first) - start >= 50_000)
    withExtendedLifetime(timer) {}
  }

  @Test("does not run it once it is cancelled, and is let go")
  func cancelled() async throws {
    let runs = Collected<Bool>()
    weak var timer: LoopTimer?
    do {
      let made = LoopTimer(after: .milliseconds(200)) { runs.append(true) }
      made.cancel()
      timer = made
    }
    // The loop lets go of it at once, not when its time has come.
    let isGone = Collected<Bool>()
    BusLoop.shared.post { isGone.append(true) }
    #expect(try await eventually { isGone.elements.count == 1 })
    #expect(timer == nil)
    try await Task.sleep(for: .milliseconds(300))
    #expect(runs.elements.isEmpty)
  }
}
