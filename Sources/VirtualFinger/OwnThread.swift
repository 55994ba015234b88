internal import Dispatch

/// Runs something that blocks on a thread of its own.
///
/// The threads that tasks run on are few: were presses to wait on all of them, nothing could arm the scan they wait for.
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
