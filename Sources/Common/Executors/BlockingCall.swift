internal import Dispatch

/// A call that blocks its thread, such as scrypt, a TPM command, or a file whose other end works.
package enum BlockingCall {
  /// Runs it on a thread of its own.
  nonisolated(nonsending) package static func run<Value: Sendable, Failure: Error>(
    _ call: @escaping @Sendable () throws(Failure) -> Value
  ) async throws(Failure) -> Value {
    let result = await withCheckedContinuation { (ended: CheckedContinuation<Result<Value, Failure>, Never>) in
      // A serial queue for one call: the threads of a concurrent one are the cooperative pool's.
      DispatchQueue(label: "whorl.blocking").async {
        ended.resume(returning: Result { () throws(Failure) in try call() })
      }
    }
    return try result.get()
  }
}
