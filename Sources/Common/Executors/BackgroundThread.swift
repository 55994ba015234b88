internal import Dispatch

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
    queue.async { job.runSynchronously(on: self.asUnownedTaskExecutor()) }
  }
}
