internal import SDBus
internal import SecretModel
internal import Synchronization

/// Runs an asynchronous call and blocks the calling thread until it has ended, as Apple's calls do.
///
/// The calling thread itself does the work, and sends and receives the messages. So the call needs no change of
/// threads, and never waits for a thread of the cooperative pool, whose last thread the caller may be blocking.
package func blocking<Value: Sendable, Failure: Error>(
  _ body: @escaping @Sendable () async throws(Failure) -> Value
) -> Result<Value, Failure> {
  let outcome = Outcome<Value, Failure>()
  WaitingThread.run {
    do throws(Failure) {
      outcome.set(.success(try await body()))
    } catch {
      outcome.set(.failure(error))
    }
  }
  return outcome.value
}

/// The result of a call, written before the waiting thread is resumed and read afterwards.
private final class Outcome<Value: Sendable, Failure: Error>: Sendable {
  private let result = Mutex<Result<Value, Failure>?>(nil)

  func set(_ value: Result<Value, Failure>) { result.withLock { $0 = value } }

  var value: Result<Value, Failure> {
    guard let value = result.withLock({ $0 }) else { preconditionFailure("the call has not ended") }
    return value
  }
}
