import Glibc
import SDBus
import Synchronization
import Testing

@Suite("The bus loop")
struct BusLoopTests {
  @Test("the bus loop continues in order on another thread when its work blocks, again and again")
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
    // The waiting thread is reused; two may have overlapped.
    #expect(threads.withLock(\.count) <= 3)
  }

  /// Records the work of an actor of the loop between two steps of a task.
  private actor OnLoop {
    nonisolated var unownedExecutor: UnownedSerialExecutor { BusLoop.shared.asUnownedSerialExecutor() }

    private(set) var order: [Int] = []

    func twoSteps() async {
      BusLoop.shared.post { self.assumeIsolated { $0.order.append(2) } }
      await step()
    }

    private func step() async { order.append(1) }
  }

  @Test("the bus loop lets no other work run between the steps of an actor's task")
  func steps() async throws {
    let actor = OnLoop()
    await actor.twoSteps()
    while await actor.order.count < 2 { await Task.yield() }
    #expect(await actor.order == [1, 2])
  }

  @Test("the bus loop runs tasks that prefer it on its own thread")
  func tasks() async throws {
    let isOnLoop = await Task(executorPreference: LoopTasks.shared) {
      await Task.yield()
      return BusLoop.shared.isCurrent
    }.value
    #expect(isOnLoop)
  }

  @Test("the bus loop calls the idle action once after each burst of work")
  func idle() async {
    // In a new process, because the tests of this one use the loop all the time.
    await #expect(processExitsWith: .success) {
      let idleTimes = Mutex(0)
      BusLoop.shared.whenIdle(for: .milliseconds(20)) { idleTimes.withLock { $0 += 1 } }
      alarm(30)
      for expected in 1...3 {
        while idleTimes.withLock({ $0 }) < expected { usleep(1_000) }
        usleep(200_000)
        guard idleTimes.withLock({ $0 }) == expected else { exit(EXIT_FAILURE) }
        BusLoop.shared.post {}
      }
      exit(EXIT_SUCCESS)
    }
  }
}
