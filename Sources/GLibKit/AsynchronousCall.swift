package import CFprint

/// Makes one asynchronous GLib call and waits for its end. The caller runs on ``MainContextExecutor``.
///
/// - Parameters:
///   - isolation: an actor on that executor. There is no default of `nil`, which would mean some other thread.
///   - start: makes the call, with this callback and this user data.
///   - finish: calls the matching `…_finish` with the `GAsyncResult`, which is good for the length of this call
///     (transfer none). It runs on the main context's thread, at the moment the result is there.
package func finished<Value: Sendable>(
  isolation: isolated any Actor = #isolation,
  start: (@escaping GAsyncReadyCallback, gpointer) -> Void,
  finish: @escaping @Sendable (OpaquePointer) -> Value
) async -> Value {
  MainContextExecutor.shared.checkIsolated()
  return await withCheckedContinuation { continuation in
    let call = PendingCall { continuation.resume(returning: finish($0)) }
    // C owns the call from here until its callback, which GLib runs exactly once.
    start(callFinished, Unmanaged.passRetained(call).toOpaque())
  }
}

/// What is to be done when a call ends.
private final class PendingCall: Sendable {
  let complete: @Sendable (OpaquePointer) -> Void

  init(complete: @escaping @Sendable (OpaquePointer) -> Void) {
    self.complete = complete
  }
}

/// A `GAsyncReadyCallback`. `GAsyncReadyCallback` has no destroy notify, so ownership is taken here.
private nonisolated func callFinished(
  _: UnsafeMutablePointer<GObject>?, _ result: OpaquePointer?, _ data: gpointer?
) {
  guard let result, let data else { return }
  Unmanaged<PendingCall>.fromOpaque(data).takeRetainedValue().complete(result)
}
