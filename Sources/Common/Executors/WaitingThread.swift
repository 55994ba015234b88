internal import Dispatch
internal import Glibc

/// A thread that blocks until a task has ended, and runs the task's jobs meanwhile. For blocking calls such as Apple's.
///
/// `@unchecked Sendable`: the mutex guards all of its state.
package final class WaitingThread: TaskExecutor, LentThread, @unchecked Sendable {
  private enum Work {
    case job(UnownedJob)
    case adopted(@Sendable () -> Void)
  }

  private let mutex: UnsafeMutablePointer<pthread_mutex_t>
  private let condition: UnsafeMutablePointer<pthread_cond_t>
  private var work: [Work] = []
  private var finished = false

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
      thread.finish()
    }
    thread.runUntilFinished()
  }

  /// For jobs that arrive after the thread has stopped waiting.
  private static let afterwards = DispatchQueue(label: "whorl.afterwards")

  package func enqueue(_ job: consuming ExecutorJob) {
    let job = UnownedJob(job)
    let late = locked {
      if !finished { work.append(.job(job)) }
      return finished
    }
    if late { Self.afterwards.async { job.runSynchronously(on: self.asUnownedTaskExecutor()) } }
  }

  package func adopt(_ body: @escaping @Sendable () -> Void) {
    locked { work.append(.adopted(body)) }
  }

  package var isTakenBack: Bool { locked { finished } }

  /// Does nothing: nobody else needs this thread.
  package func willWait() {}

  private func finish() { locked { finished = true } }

  private func locked<Value>(_ body: () -> Value) -> Value {
    pthread_mutex_lock(mutex)
    defer {
      pthread_cond_signal(condition)
      pthread_mutex_unlock(mutex)
    }
    return body()
  }

  private func runUntilFinished() {
    CurrentThread.lend(self) {
      let executor = asUnownedTaskExecutor()
      while let next = nextWork() {
        switch next {
        case .job(let job): job.runSynchronously(on: executor)
        case .adopted(let body): body()
        }
      }
    }
  }

  /// Waits for a job; nil if there is none and the task has ended.
  private func nextWork() -> Work? {
    pthread_mutex_lock(mutex)
    defer { pthread_mutex_unlock(mutex) }
    while work.isEmpty {
      if finished { return nil }
      pthread_cond_wait(condition, mutex)
    }
    return work.removeFirst()
  }
}
