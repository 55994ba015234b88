internal import Dispatch

/// The thread of one actor; see ``TaskThread`` for why it has its own.
package final class ActorThread: SerialExecutor {
  private let queue: DispatchQueue

  /// - Parameter name: what a debugger shows.
  package init(_ name: String) {
    queue = DispatchQueue(label: name)
  }

  package func enqueue(_ job: consuming ExecutorJob) {
    let job = UnownedJob(job)
    queue.async { job.runSynchronously(on: self.asUnownedSerialExecutor()) }
  }
}
