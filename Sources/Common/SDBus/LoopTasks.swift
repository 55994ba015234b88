/// Runs tasks on the bus loop: `Task(executorPreference: LoopTasks.shared)`. A call of a connection and its answer then need
/// no other thread. The tasks must not block.
///
/// It is not ``BusLoop`` itself: if that were an executor of tasks too, every actor of the loop would let other work run
/// between the steps of a task that has no such preference.
package final class LoopTasks: TaskExecutor {
  package static let shared = LoopTasks()

  private init() {}

  package func enqueue(_ job: consuming ExecutorJob) {
    let job = UnownedJob(job)
    BusLoop.shared.post { job.runSynchronously(on: self.asUnownedTaskExecutor()) }
  }
}
