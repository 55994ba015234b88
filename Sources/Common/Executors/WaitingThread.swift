internal import Dispatch
internal import Glibc

/// A thread that waits for one task, and meanwhile runs what that task has to run: for calls that block, as Apple's do.
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
    // Owned by this object until it ends; both are initialized here and destroyed there.
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

  /// Runs `body` as a task to its end, on the calling thread as far as the thread has a say, and blocks it until then.
  package static func run(_ body: @escaping @Sendable () async -> Void) {
    let thread = WaitingThread()
    Task.detached(executorPreference: thread) {
      await body()
      thread.finish()
    }
    thread.runUntilFinished()
  }

  /// For jobs that arrive when the thread has left already.
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

  /// Nobody else needs this thread.
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

  /// Waits for something to run; nil when there is nothing and the task has ended.
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
