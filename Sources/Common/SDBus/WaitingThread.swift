internal import Dispatch
internal import Glibc

/// A thread that blocks until a task has ended, and runs the task's jobs meanwhile. For blocking calls such as Apple's.
///
/// While it has no job, it is the bus loop, if the loop has nothing else to do. A call over a connection and its answer
/// then need no other thread.
///
/// `@unchecked Sendable`: the mutex guards all of its state.
package final class WaitingThread: TaskExecutor, @unchecked Sendable {
  private let mutex: UnsafeMutablePointer<pthread_mutex_t>
  private let condition: UnsafeMutablePointer<pthread_cond_t>
  private let thread = pthread_self()
  private var jobs: [UnownedJob] = []
  private var finished = false
  /// Whether the thread is the bus loop while it has no job.
  private var servesLoop = false

  private init() {
    // Owned by this object: initialized here and destroyed in `deinit`.
    mutex = .allocate(capacity: 1)
    condition = .allocate(capacity: 1)
    pthread_mutex_init(mutex, nil)
    pthread_cond_init(condition, nil)
  }

  deinit {
    pthread_cond_destroy(condition)
    pthread_mutex_destroy(mutex)
    condition.deallocate()
    mutex.deallocate()
  }

  /// Runs `body` as a task and blocks the calling thread until it has ended. The calling thread runs the task's jobs
  /// where possible.
  package static func run(_ body: @escaping @Sendable () async -> Void) {
    let thread = WaitingThread()
    Task.detached(executorPreference: thread) {
      await body()
      thread.locked { thread.finished = true }
    }
    thread.runUntilFinished()
  }

  /// For jobs that arrive after the thread has stopped waiting.
  private static let afterwards = DispatchQueue(label: "whorl.afterwards")

  package func enqueue(_ job: consuming ExecutorJob) {
    let job = UnownedJob(job)
    let (isLate, isInLoop) = locked {
      if !finished { jobs.append(job) }
      return (finished, servesLoop)
    }
    if isLate {
      Self.afterwards.async { job.runSynchronously(on: self.asUnownedTaskExecutor()) }
    } else if isInLoop, pthread_equal(thread, pthread_self()) == 0 {
      BusLoop.shared.wake()
    }
  }

  private func locked<Value>(_ body: () -> Value) -> Value {
    pthread_mutex_lock(mutex)
    defer {
      pthread_cond_signal(condition)
      pthread_mutex_unlock(mutex)
    }
    return body()
  }

  private func runUntilFinished() {
    let hasBorrowed = BusLoop.shared.borrow()
    // A call within a call finds that this thread is the loop already.
    let servesLoop = hasBorrowed || (BusLoop.shared.isInThisProcess && BusLoop.shared.isCurrent)
    locked { self.servesLoop = servesLoop }
    let executor = asUnownedTaskExecutor()
    while let job = nextJob() { job.runSynchronously(on: executor) }
    if hasBorrowed { BusLoop.shared.giveBack() }
  }

  /// Waits for a job; nil if there is none and the task has ended.
  private func nextJob() -> UnownedJob? {
    pthread_mutex_lock(mutex)
    defer { pthread_mutex_unlock(mutex) }
    while jobs.isEmpty {
      if finished { return nil }
      if servesLoop {
        pthread_mutex_unlock(mutex)
        let isLoop = BusLoop.shared.serve()
        pthread_mutex_lock(mutex)
        servesLoop = isLoop
      } else {
        pthread_cond_wait(condition, mutex)
      }
    }
    return jobs.removeFirst()
  }
}
