internal import Dispatch

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
