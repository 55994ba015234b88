// Where tasks run that must not use Swift's cooperative pool. Begin with `VaultExecutor` (the jobs of a vault)
// and `BackgroundThread` (tasks that belong to no actor). `FairQueue.swift` gives calls turns; `Waiting.swift` waits
// for a time or for a count.

internal import Dispatch
internal import Glibc
internal import Synchronization

/// Runs the vault's jobs one after the other, on the calling thread if it is lent (``LentThread``), else on its own
/// thread. Never in the cooperative pool, for the same reason as `BackgroundThread`.
package final class VaultExecutor: SerialExecutor {
  private struct State {
    var jobs: [UnownedJob] = []
    /// Whether a thread is running jobs, or is about to.
    var running = false
  }

  private let state = Mutex(State())
  private let queue = DispatchQueue(label: "whorl.vault")

  package init() {}

  package func enqueue(_ job: consuming ExecutorJob) {
    let job = UnownedJob(job)
    let begins = state.withLock { state in
      state.jobs.append(job)
      guard !state.running else { return false }
      state.running = true
      return true
    }
    guard begins else { return }
    if let thread = CurrentThread.lent {
      thread.adopt { self.run(on: thread) }
    } else {
      queue.async { self.run(on: nil) }
    }
  }

  /// Runs the queued jobs. A thread that is taken back leaves the rest to the vault's own thread.
  private func run(on thread: (any LentThread)?) {
    let executor = unsafe asUnownedSerialExecutor()
    while let job = next() {
      unsafe job.runSynchronously(on: executor)
      if let thread, thread.isTakenBack { return queue.async { self.run(on: nil) } }
    }
  }

  private func next() -> UnownedJob? {
    state.withLock { state in
      guard !state.jobs.isEmpty else {
        state.running = false
        return nil
      }
      return state.jobs.removeFirst()
    }
  }
}

/// A thread that itself runs the vault's jobs that it enqueues, which saves two thread switches.
package protocol LentThread: AnyObject, Sendable {
  /// Runs a closure on this thread after the current one has returned. Called only on this thread.
  func adopt(_ body: @escaping @Sendable () -> Void)
  /// Whether the vault must continue on its own thread.
  var isTakenBack: Bool { get }
  /// Called on this thread before its code waits for other programs.
  func willWait()
}

/// The current thread, if it is lent.
package enum CurrentThread {
  /// Lends the current thread until it ends.
  package static func lend(_ thread: any LentThread) {
    guard lent !== thread else { return }
    // transfer full: the slot keeps this object for good, because threads that are lent like this never end.
    unsafe pthread_setspecific(key, Unmanaged.passRetained(Slot(thread)).toOpaque())
  }

  static var lent: (any LentThread)? {
    unsafe pthread_getspecific(key).map { unsafe Unmanaged<Slot>.fromOpaque($0).takeUnretainedValue().thread }
  }

  /// Call it before the vault's code waits for other programs. A lent thread that others need is then replaced by
  /// another one.
  package static func willWait() { lent?.willWait() }

  private final class Slot {
    let thread: any LentThread
    init(_ thread: any LentThread) { self.thread = thread }
  }

  private static let key: pthread_key_t = {
    var key = pthread_key_t()
    unsafe precondition(pthread_key_create(&key, nil) == 0, "no slot for lent threads")
    return key
  }()
}

/// Runs the library's own tasks that belong to no actor, outside the cooperative pool.
///
/// A program may block every thread of that pool in calls that wait for this library, as code for Apple's keychain does
/// inside tasks. On a machine with one processor the pool has only one thread. So the work that those calls wait for
/// must not need a thread of the pool.
package final class BackgroundThread: TaskExecutor {
  /// For work that never blocks.
  package static let shared = BackgroundThread()

  // A serial queue gets a thread of its own while it has work, independent of the pool.
  private let queue = DispatchQueue(label: "whorl.background")

  /// A further thread, for work that may block. libdispatch gives a process at most 255 of them.
  package init() {}

  package func enqueue(_ job: consuming ExecutorJob) {
    let job = UnownedJob(job)
    queue.async { unsafe job.runSynchronously(on: self.asUnownedTaskExecutor()) }
  }
}

/// A call that blocks its thread, such as scrypt, a TPM command, or a pipe whose other end is busy.
package enum BlockingCall {
  /// Runs it on a thread of its own.
  nonisolated(nonsending) package static func run<Value: Sendable, Failure: Error>(
    _ call: @escaping @Sendable () throws(Failure) -> Value
  ) async throws(Failure) -> Value {
    let result = await withCheckedContinuation { (ended: CheckedContinuation<Result<Value, Failure>, Never>) in
      // A serial queue for one call, since a concurrent queue uses the threads of the cooperative pool.
      DispatchQueue(label: "whorl.blocking").async {
        ended.resume(returning: Result { () throws(Failure) in try call() })
      }
    }
    return try result.get()
  }
}
