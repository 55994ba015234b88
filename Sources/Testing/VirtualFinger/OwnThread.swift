internal import Dispatch

/// Runs a blocking call on its own thread.
///
/// The thread pool of Swift's tasks is small. If presses blocked all of its threads, no task could arm the scan that
/// they wait for.
package func onOwnThread<Value: Sendable>(
  _ body: @escaping @Sendable () throws(VirtualReaderError) -> Value
) async throws(VirtualReaderError) -> Value {
  let result: Result<Value, VirtualReaderError> = await withCheckedContinuation { continuation in
    DispatchQueue.global().async {
      do throws(VirtualReaderError) {
        continuation.resume(returning: .success(try body()))
      } catch {
        continuation.resume(returning: .failure(error))
      }
    }
  }
  return try result.get()
}
