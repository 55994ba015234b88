import Primitives
import Testing

@Suite("A growing count", .timeLimit(.minutes(1)))
struct GrowingCountTests {
  @Test("a growing count ends the waits whose number it has reached, and no others")
  func reached() async {
    let count = GrowingCount()
    count.grow(to: 2)
    count.grow(to: 1)
    #expect(count.value == 2)
    await count.reaches(2)
    let third = Task { await count.reaches(3) }
    let fourth = Task {
      await count.reaches(4)
      return count.value
    }
    await Task.yield()
    count.increment()
    await third.value
    count.increment()
    #expect(await fourth.value == 4)
  }

  @Test("a growing count ends a wait that is cancelled, before the wait begins or later")
  func cancelled() async {
    let count = GrowingCount()
    let early = Task {
      withUnsafeCurrentTask { $0?.cancel() }
      await count.reaches(1)
    }
    await early.value
    let late = Task { await count.reaches(1) }
    for _ in 1...20 { await Task.yield() }
    late.cancel()
    await late.value
    #expect(count.value == 0)
  }
}
