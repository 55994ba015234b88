internal import Foundation
internal import Synchronization

/// Runs a call of the asynchronous library to its end and blocks the calling thread, as Apple's calls do.
///
/// The calling thread itself does the work, so that nothing here ever waits for a thread of the cooperative pool, of
/// which the caller may hold the last one; and a call costs no change of threads.
package func blocking<Value: Sendable, Failure: Error>(
  _ body: @escaping @Sendable () async throws(Failure) -> Value
) -> Result<Value, Failure> {
  let executor = CallingThreadExecutor()
  let outcome = Outcome<Value, Failure>()
  Task.detached(executorPreference: executor) {
    do throws(Failure) {
      outcome.set(.success(try await body()))
    } catch {
      outcome.set(.failure(error))
    }
    executor.finish()
  }
  executor.runUntilFinished()
  return outcome.value
}

/// What a call came to; written before ``CallingThreadExecutor/finish()``, read after it.
private final class Outcome<Value: Sendable, Failure: Error>: Sendable {
  private let result = Mutex<Result<Value, Failure>?>(nil)

  func set(_ value: Result<Value, Failure>) { result.withLock { $0 = value } }

  var value: Result<Value, Failure> {
    guard let value = result.withLock({ $0 }) else { preconditionFailure("the call has not ended") }
    return value
  }
}

/// Runs the jobs of one task on the thread that waits for it.
///
/// `@unchecked Sendable`: the condition guards all of its state.
private final class CallingThreadExecutor: TaskExecutor, @unchecked Sendable {
  /// For jobs that arrive after the waiting thread has left: an actor may have been handed to this executor by then.
  private static let afterwards = DispatchQueue(label: "whorl.security.afterwards")

  private let condition = NSCondition()
  private var jobs: [UnownedJob] = []
  private var finished = false

  func enqueue(_ job: consuming ExecutorJob) {
    let job = UnownedJob(job)
    condition.lock()
    if finished {
      condition.unlock()
      Self.afterwards.async { job.runSynchronously(on: self.asUnownedTaskExecutor()) }
      return
    }
    jobs.append(job)
    condition.signal()
    condition.unlock()
  }

  /// Called by the task itself, as the last thing it does.
  func finish() {
    condition.lock()
    finished = true
    condition.signal()
    condition.unlock()
  }

  func runUntilFinished() {
    let executor = asUnownedTaskExecutor()
    condition.lock()
    while true {
      if !jobs.isEmpty {
        let job = jobs.removeFirst()
        condition.unlock()
        job.runSynchronously(on: executor)
        condition.lock()
      } else if finished {
        condition.unlock()
        return
      } else {
        condition.wait()
      }
    }
  }
}
