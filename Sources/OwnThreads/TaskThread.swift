internal import Dispatch

/// Runs tasks on a thread of its own, one job at a time.
///
/// The threads that tasks run on are few, and a program can block them all with calls that wait for the vault, which
/// Apple's names do. What such a call waits for must not need one of them.
package final class TaskThread: TaskExecutor {
  /// For tasks that wait more than they do.
  package static let shared = TaskThread("whorl.tasks")

  // A serial queue gets a thread whenever it has work, however many others are blocked.
  private let queue: DispatchQueue

  /// - Parameter name: what a debugger shows.
  package init(_ name: String) {
    queue = DispatchQueue(label: name)
  }

  package func enqueue(_ job: consuming ExecutorJob) {
    let job = UnownedJob(job)
    queue.async { job.runSynchronously(on: self.asUnownedTaskExecutor()) }
  }
}
