import Glibc
import SDBus
import Synchronization
import Testing

@Suite("The bus loop")
struct BusLoopTests {
  @Test("goes on, in order, on another thread while something on it waits, time after time")
  func waiting() async throws {
    let threads = Mutex<Set<UInt>>([])
    for _ in 0..<50 {
      let order = Collected<Int>()
      let mayEnd = Mutex(false)
      // Post from the loop, so that both are queued when this closure ends.
      BusLoop.shared.post {
        BusLoop.shared.post {
          threads.withLock { _ = $0.insert(UInt(pthread_self())) }
          BusLoop.shared.post { order.append(1) }
          #expect(BusLoop.shared.isCurrent)
          BusLoop.shared.waitElsewhere()
          #expect(!BusLoop.shared.isCurrent)
          while !mayEnd.withLock({ $0 }) { usleep(100) }
          order.append(3)
        }
        BusLoop.shared.post {
          #expect(BusLoop.shared.isCurrent)
          order.append(2)
        }
      }
      #expect(try await eventually { order.elements.count == 2 })
      mayEnd.withLock { $0 = true }
      #expect(try await eventually { order.elements.count == 3 })
      #expect(order.elements == [2, 1, 3])
    }
    // The thread that waited is reused; two may have overlapped.
    #expect(threads.withLock(\.count) <= 3)
  }
}
