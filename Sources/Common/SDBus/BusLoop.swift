// SDBus: connections, messages and objects over sd-bus. Begin with `BusConnection`: one is made by `MessageBus.swift` or
// `BusListener.swift`, sends a `BusCall`, and serves a `BusService`. All of it runs on the one thread of `BusLoop`, which
// `LoopTurn.swift` lends to threads that wait (`WaitingThread`).

internal import CSystemd
internal import Glibc
internal import Primitives
internal import Synchronization

/// The thread that uses all sd-bus connections of this process, because sd-bus is not thread-safe.
///
/// There is one loop in a process. It starts when it is first used and never ends. Child processes with a parent-death
/// signal (`PR_SET_PDEATHSIG`) are started from it too: the kernel sends that signal when the *thread* that started them
/// ends.
///
/// A closure that is about to block calls ``waitElsewhere()``. Then another thread becomes the loop. The old thread
/// finishes the closure, and waits until it is needed in the same way.
///
/// A thread that blocks until a call is answered borrows the loop (``WaitingThread``), so that neither the call nor the
/// answer has to wake another thread.
///
/// `@unchecked Sendable`: only the thread that is the loop uses `sources`, `batch`, `polled`, `idleAction` and `lastEvent`;
/// everything else is constant or protected by a lock.
package final class BusLoop: SerialExecutor, @unchecked Sendable {
  package static let shared = BusLoop()

  private enum Work {
    case job(UnownedJob)
    case closure(@Sendable () -> Void)
  }

  /// False in a process that was forked from the one that started the loop, since fork does not copy the loop's thread.
  /// This module cannot be used there.
  package var isInThisProcess: Bool { process == getpid() }
  private let process = getpid()

  private let queue = Mutex<[Work]>([])
  /// Work taken from the queue and not run yet, in reverse order.
  private var batch: [Work] = []
  private let wakeDescriptor: Int32
  private let turn = LoopTurn()
  /// The number of threads that wait to become the loop.
  private let standby = Mutex(0)
  private let replacement: UnsafeMutablePointer<sem_t>
  private var sources: [ObjectIdentifier: any BusLoopSource] = [:]
  /// What the loop's own thread polls for, or polled for last.
  private var polled: [BusPollRequest] = []
  private var idleAction: (delay: UInt64, body: () -> Void)?
  /// When a descriptor was ready; nil once the idle action has run since.
  private var lastEvent: UInt64?

  private init() {
    wakeDescriptor = eventfd(0, Int32(EFD_CLOEXEC | EFD_NONBLOCK))
    precondition(wakeDescriptor >= 0, "no descriptor for the bus loop")
    // Initialized here; never destroyed, like the loop.
    replacement = .allocate(capacity: 1)
    sem_init(replacement, 0, 0)
    startThread()
  }

  private func startThread() {
    // The new thread inherits a mask that blocks all signals, so the kernel delivers them to the program's threads.
    var all = sigset_t()
    var previous = sigset_t()
    sigfillset(&all)
    pthread_sigmask(SIG_SETMASK, &all, &previous)
    var identifier = pthread_t()
    // transfer full: the thread takes over this reference
    let failure = pthread_create(&identifier, nil, busLoopMain, Unmanaged.passRetained(self).toOpaque())
    precondition(failure == 0, "no thread for the bus loop")
    pthread_sigmask(SIG_SETMASK, &previous, nil)
  }

  /// Runs the closure on the loop, after everything posted before it.
  package func post(_ work: @escaping @Sendable () -> Void) {
    add(.closure(work))
  }

  package func enqueue(_ job: consuming ExecutorJob) {
    add(.job(UnownedJob(job)))
  }

  package func checkIsolated() {
    precondition(isCurrent, "not on the bus loop")
  }

  package func isIsolatingCurrentContext() -> Bool? { isCurrent }

  /// Whether the current thread is the loop.
  package var isCurrent: Bool { turn.isCurrent }

  private func add(_ work: Work) {
    let wasEmpty = queue.withLock {
      $0.append(work)
      return $0.count == 1
    }
    // The loop itself checks the queue before it waits.
    guard wasEmpty, !isCurrent else { return }
    wake()
  }

  /// Ends the loop's wait.
  func wake() {
    guard !turn.callOwnThread() else { return }
    var one: UInt64 = 1
    write(wakeDescriptor, &one, MemoryLayout<UInt64>.size)
  }

  // MARK: Borrowing

  /// Makes the calling thread the loop until ``giveBack()``. It must then call ``serve()`` whenever it has nothing else
  /// to do.
  ///
  /// - Returns: false if the loop is busy, or another thread has borrowed it.
  func borrow() -> Bool { isInThisProcess && turn.borrow() }

  /// Runs the work of the loop on the thread that has borrowed it, or waits for some.
  ///
  /// - Returns: false if the thread is not the loop any more.
  func serve() -> Bool {
    guard isInThisProcess, isCurrent else { return false }
    if !runQueued() { waitAndDispatch() }
    return true
  }

  /// Ends the loan of the calling thread, if it has not ended.
  func giveBack() {
    guard isInThisProcess else { return }
    var rounds = 0
    while isCurrent, rounds < 16, runQueued() { rounds += 1 }
    guard isCurrent else { return }
    let requests = pollRequests().map(\.request)
    let mayRest = batch.isEmpty && !requests.contains { $0.isAwaited || $0.deadline <= LoopClock.now + turn.rest }
    // The loop's own thread may still be polling, from before the loan.
    let isPolled = batch.isEmpty && requests == polled
    turn.giveBack(mayRest: mayRest)
    if !isPolled || !queue.withLock(\.isEmpty) { wake() }
  }

  /// Continues on the loop's own thread, which never ends. Call it on the loop. Other work of the loop may run before.
  package nonisolated(nonsending) func continueOnOwnThread() async {
    while turn.isBorrowed {
      await withCheckedContinuation { continuation in
        post { continuation.resume() }
        endLoan()
      }
    }
  }

  /// Gives the loop back at once, while its work continues.
  private func endLoan() {
    turn.giveBack(mayRest: false)
    wake()
  }

  // MARK: On the loop's thread

  /// Serves the source until ``remove(_:)``. The loop keeps a strong reference to it.
  package func add(_ source: any BusLoopSource) { sources[ObjectIdentifier(source)] = source }

  package func remove(_ source: any BusLoopSource) { sources[ObjectIdentifier(source)] = nil }

  /// Calls `action` each time no message has come and no work was queued for `delay`. Replaces an earlier action.
  package func whenIdle(for delay: Duration, _ action: @escaping @Sendable () -> Void) {
    post {
      self.idleAction = (delay.microseconds, action)
      self.lastEvent = LoopClock.now
    }
  }

  /// Makes another thread the loop. Call it from a closure on the loop that is about to block. From then on the closure
  /// must not use anything that belongs to the loop.
  package func waitElsewhere() {
    precondition(isCurrent, "not on the bus loop")
    guard !turn.isBorrowed else { return endLoan() }
    turn.leave()
    let standsBy = standby.withLock { count in
      defer { if count > 0 { count -= 1 } }
      return count > 0
    }
    if standsBy { sem_post(replacement) } else { startThread() }
  }

  fileprivate func run() -> Never {
    while true {
      turn.take()
      while isCurrent {
        // Also run work that this work has queued, within limits, before polling the connections.
        var rounds = 0
        while isCurrent, rounds < 16, runQueued() { rounds += 1 }
        if isCurrent { waitAndDispatch() }
      }
      standby.withLock { $0 += 1 }
      while sem_wait(replacement) != 0 {}
    }
  }

  /// Runs the work that is queued now. More may be queued meanwhile.
  ///
  /// - Returns: whether there was any.
  private func runQueued() -> Bool {
    let executor = asUnownedSerialExecutor()
    if batch.isEmpty {
      batch = queue.withLock { queue in
        defer { queue = [] }
        return queue.reversed()
      }
    }
    guard !batch.isEmpty else { return false }
    // If another thread has become the loop meanwhile, it runs the rest.
    while isCurrent, let work = batch.popLast() {
      switch work {
      case .job(let job): job.runSynchronously(on: executor)
      case .closure(let closure): closure()
      }
    }
    return true
  }

  private func pollRequests() -> [(source: any BusLoopSource, request: BusPollRequest)] {
    sources.values.compactMap { source in source.pollRequest().map { (source, $0) } }
  }

  private func waitAndDispatch() {
    let requests = pollRequests()
    var descriptors = [pollfd(fd: wakeDescriptor, events: Int16(POLLIN), revents: 0)]
    descriptors += requests.map { pollfd(fd: $0.request.descriptor, events: $0.request.events, revents: 0) }
    let earliest = requests.map(\.request.deadline).min() ?? .max
    let idleSince = idleAction.flatMap { action in lastEvent.map { $0 + action.delay } } ?? .max
    // Other threads write to the eventfd when they queue work; the loop itself does not.
    let limit = queue.withLock(\.isEmpty) ? LoopClock.milliseconds(until: min(earliest, idleSince)) : 0
    if !turn.isBorrowed { polled = requests.map(\.request) }
    let loans = turn.willPoll()
    let ready = poll(&descriptors, nfds_t(descriptors.count), limit)
    // The loop's own thread: the connections may have changed during a loan.
    if let loans, !turn.hasPolled(since: loans) { return }
    if descriptors[0].revents != 0 {
      var count: UInt64 = 0
      read(wakeDescriptor, &count, MemoryLayout<UInt64>.size)
    }
    let now = LoopClock.now
    if ready > 0 {
      lastEvent = now
    } else if idleSince <= now {
      lastEvent = nil
      idleAction?.body()
    }
    for (index, entry) in requests.enumerated() {
      if descriptors[index + 1].revents != 0 || entry.request.deadline <= now { entry.source.dispatch() }
    }
  }
}

/// Something with a descriptor that the loop polls. Both functions are called on the loop's thread.
package protocol BusLoopSource: AnyObject, Sendable {
  /// What to poll for, or nil for nothing.
  func pollRequest() -> BusPollRequest?
  /// Called when the descriptor is ready, or the deadline has passed.
  func dispatch()
}

/// What a ``BusLoopSource`` waits for.
package struct BusPollRequest: Equatable {
  /// -1 to wait only for the deadline.
  package var descriptor: Int32
  /// As in `poll(2)`.
  package var events: Int16
  /// In microseconds of `CLOCK_MONOTONIC`.
  package var deadline = UInt64.max
  /// False if it does not matter when the descriptor's events are seen some milliseconds late.
  package var isAwaited: Bool

  package init(descriptor: Int32, events: Int16, deadline: UInt64 = .max, isAwaited: Bool = true) {
    self.descriptor = descriptor
    self.events = events
    self.deadline = deadline
    self.isAwaited = isAwaited
  }
}

private func busLoopMain(_ argument: UnsafeMutableRawPointer?) -> UnsafeMutableRawPointer? {
  guard let argument else { return nil }
  // transfer full: balances the retain of pthread_create
  Unmanaged<BusLoop>.fromOpaque(argument).takeRetainedValue().run()
}

/// Runs tasks on the bus loop: `Task(executorPreference: LoopTasks.shared)`. A call of a connection and its answer then need
/// no other thread. The tasks must not block.
///
/// It is not ``BusLoop`` itself: if that were an executor of tasks too, every actor of the loop would let other work run
/// between the steps of a task that has no such preference.
package final class LoopTasks: TaskExecutor {
  package static let shared = LoopTasks()

  private init() {}

  package func enqueue(_ job: consuming ExecutorJob) {
    let job = UnownedJob(job)
    BusLoop.shared.post { job.runSynchronously(on: self.asUnownedTaskExecutor()) }
  }
}
