internal import Dispatch

/// Where the library's own tasks run that belong to no actor: not in the cooperative pool.
///
/// A program may block every thread of that pool in calls that wait for this library, as code written for Apple's
/// keychain does inside tasks; on a machine with one processor the pool has one thread. What those calls wait for must
/// not need a thread of it then.
package final class BackgroundThread: TaskExecutor {
  /// For what never blocks.
  package static let shared = BackgroundThread()

  // A serial queue has a thread of its own while there is work, whatever the pool does.
  private let queue = DispatchQueue(label: "whorl.background")

  /// A thread more, for what may block.
  package init() {}

  package func enqueue(_ job: consuming ExecutorJob) {
    let job = UnownedJob(job)
    queue.async { job.runSynchronously(on: self.asUnownedTaskExecutor()) }
  }
}
