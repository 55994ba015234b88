internal import Dispatch
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
    let executor = asUnownedSerialExecutor()
    while let job = next() {
      job.runSynchronously(on: executor)
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
