internal import Dispatch
internal import Glibc

/// A thread that waits for one task, and meanwhile runs what that task has to run: for calls that block, as Apple's do.
///
/// `@unchecked Sendable`: the mutex guards all of its state.
package final class WaitingThread: TaskExecutor, @unchecked Sendable {
  private enum Work {
    case job(UnownedJob)
    case adopted(() -> Void)
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

  /// Runs something on this thread, from which alone it is called, before the thread may leave.
  func adopt(_ body: @escaping () -> Void) {
    locked { work.append(.adopted(body)) }
  }

  var isFinished: Bool { locked { finished } }

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
    let outer = pthread_getspecific(Self.key)
    // Lends the thread's slot this object for as long as it runs (transfer none).
    pthread_setspecific(Self.key, Unmanaged.passUnretained(self).toOpaque())
    defer { pthread_setspecific(Self.key, outer) }
    let executor = asUnownedTaskExecutor()
    while let next = nextWork() {
      switch next {
      case .job(let job): job.runSynchronously(on: executor)
      case .adopted(let body): body()
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

  private static let key: pthread_key_t = {
    var key = pthread_key_t()
    precondition(pthread_key_create(&key, nil) == 0, "no slot for the waiting thread")
    return key
  }()

  /// The object the current thread works for, where it is such a thread.
  static var current: WaitingThread? {
    pthread_getspecific(key).map { Unmanaged<WaitingThread>.fromOpaque($0).takeUnretainedValue() }
  }
}
