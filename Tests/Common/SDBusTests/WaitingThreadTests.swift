import Dispatch
import Glibc
import SDBus
import Synchronization
import Testing

/// Each test has a process of its own, because the other tests use the loop of this one all the time.
@Suite("A thread that blocks until a call is answered")
struct WaitingThreadTests {
  /// A server that answers every call, and records the thread that handled it.
  private static func answering(_ threads: Collected<pthread_t>) throws -> Loopback {
    try Loopback(
      server: .init(
        call: { call in
          threads.append(pthread_self())
          call.answer(call.arguments)
        }))
  }

  /// Repeats a call until it borrows the loop, which requires that the loop's own thread is waiting for messages. If
  /// this never happens, `alarm` ends the process.
  private static func repeated(until isLent: () -> Bool) {
    repeat { usleep(20_000) } while !isLent()
  }

  @Test("a thread that blocks on a D-Bus call sends the call and receives the answer itself")
  func itself() async {
    await #expect(processExitsWith: .success) {
      alarm(30)
      let threads = Collected<pthread_t>()
      let bus = try Self.answering(threads)
      Self.repeated {
        WaitingThread.run { _ = try? await bus.client.call(target, "Echo") }
        return threads.elements.last == pthread_self()
      }
    }
  }

  @Test("a thread that blocks on D-Bus calls gets its own answers, and gives the bus loop back afterwards")
  func afterwards() async {
    await #expect(processExitsWith: .success) {
      alarm(30)
      let threads = Collected<pthread_t>()
      let bus = try Self.answering(threads)
      for number in 1...100 as ClosedRange<UInt64> {
        let answer = Mutex<UInt64?>(nil)
        WaitingThread.run {
          let values = try? await bus.client.call(target, "Echo", [.uint64(number)])
          answer.withLock { $0 = values?.first?.asUInt64 }
        }
        #expect(answer.withLock { $0 } == number)
        guard number % 5 == 0 else { continue }
        let caller = pthread_self()
        _ = try await bus.client.call(target, "Echo")
        #expect(threads.elements.last != caller)
      }
    }
  }

  @Test("threads that block on D-Bus calls do not keep the bus loop from serving other threads")
  func many() async {
    await #expect(processExitsWith: .success) {
      alarm(120)
      let bus = try Self.answering(Collected())
      let right = Atomic(0)
      let group = DispatchGroup()
      for worker in 0..<6 as Range<UInt64> {
        DispatchQueue(label: "worker").async(group: group) {
          for number in 0..<300 as Range<UInt64> {
            WaitingThread.run {
              let sent = worker * 1_000 + number
              let values = try? await bus.client.call(target, "Echo", [.uint64(sent)])
              if values?.first?.asUInt64 == sent { right.add(1, ordering: .relaxed) }
            }
          }
        }
      }
      for number in 0..<300 as Range<UInt64> {
        let values = try await bus.client.call(target, "Echo", [.uint64(number)])
        if values.first?.asUInt64 == number { right.add(1, ordering: .relaxed) }
      }
      await withCheckedContinuation { ended in group.notify(queue: .global()) { ended.resume() } }
      #expect(right.load(ordering: .relaxed) == 2_100)
    }
  }

  @Test("a thread that waits in the bus loop runs what other threads give it")
  func jobs() async {
    await #expect(processExitsWith: .success) {
      alarm(30)
      let thread = pthread_self()
      Self.repeated {
        let wasLent = Mutex(false)
        WaitingThread.run {
          wasLent.withLock { $0 = BusLoop.shared.isCurrent }
          await withCheckedContinuation { continuation in
            DispatchQueue.global().asyncAfter(deadline: .now() + 0.05) { continuation.resume() }
          }
          #expect(pthread_self() == thread)
        }
        return wasLent.withLock { $0 }
      }
    }
  }

  @Test("a thread can make a blocking D-Bus call within another")
  func nested() async {
    await #expect(processExitsWith: .success) {
      alarm(30)
      let threads = Collected<pthread_t>()
      let bus = try Self.answering(threads)
      Self.repeated {
        WaitingThread.run { Self.inner(bus) }
        return threads.elements.last == pthread_self()
      }
    }
  }

  private static func inner(_ bus: Loopback) {
    WaitingThread.run { _ = try? await bus.client.call(target, "Echo") }
  }

  @Test("a thread that waits in the bus loop hands the loop on when its work is about to block")
  func waitElsewhere() async {
    await #expect(processExitsWith: .success) {
      alarm(30)
      let threads = Collected<pthread_t>()
      let bus = try Self.answering(threads)
      Self.repeated {
        let mayEnd = Mutex(false)
        let thread = Mutex<pthread_t?>(nil)
        WaitingThread.run {
          BusLoop.shared.post {
            thread.withLock { $0 = pthread_self() }
            BusLoop.shared.waitElsewhere()
            #expect(!BusLoop.shared.isCurrent)
            BusLoop.shared.post { mayEnd.withLock { $0 = true } }
            while !mayEnd.withLock({ $0 }) { usleep(100) }
          }
          _ = try? await bus.client.call(target, "Echo")
        }
        #expect(threads.elements.last != pthread_self(), "the loop was given away before the call")
        return thread.withLock { $0 } == pthread_self()
      }
    }
  }

  private actor OnLoop {
    nonisolated var unownedExecutor: UnownedSerialExecutor { BusLoop.shared.asUnownedSerialExecutor() }

    /// The threads before and after.
    func move() async -> (pthread_t, pthread_t) {
      let before = pthread_self()
      await BusLoop.shared.continueOnOwnThread()
      return (before, pthread_self())
    }
  }

  @Test("work on a thread that waits in the bus loop can move to the loop's own thread", arguments: 0...1)
  func ownThread(earlierCalls: Int) async {
    await #expect(processExitsWith: .success) { [earlierCalls] in
      alarm(30)
      let bus = try Self.answering(Collected())
      let (thread, actor) = (pthread_self(), OnLoop())
      Self.repeated {
        let wasLent = Mutex(false)
        WaitingThread.run {
          // Without a call the loop's own thread polls; with one it does not.
          for _ in 0..<earlierCalls { _ = try? await bus.client.call(target, "Echo") }
          let (before, after) = await actor.move()
          #expect(after != thread)
          wasLent.withLock { $0 = before == thread }
        }
        return wasLent.withLock { $0 }
      }
    }
  }

  @Test("a D-Bus connection is awaited by the bus loop only while a call waits for its answer")
  func awaited() async throws {
    let called = Collected<BusCall>()
    let bus = try Loopback(server: .init(call: { called.append($0) }))
    defer { bus.close() }
    func isAwaited() async -> Bool? {
      await withCheckedContinuation { continuation in
        BusLoop.shared.post { continuation.resume(returning: bus.client.pollRequest()?.isAwaited) }
      }
    }
    let call = Task { try await bus.client.call(target, "Echo") }
    #expect(try await eventually { called.elements.count == 1 })
    #expect(await isAwaited() == true)
    called.elements.first?.answer([])
    _ = try await call.value
    #expect(await isAwaited() == false)
  }
}
