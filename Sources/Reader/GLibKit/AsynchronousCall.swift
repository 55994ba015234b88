package import CFprint

/// Starts an asynchronous GLib call and suspends until it has finished. The caller runs on ``MainContextExecutor``.
///
/// `finish` gets the real result, even of a call that succeeded although it was cancelled, so that the caller can undo
/// it. GLib would report such a call as cancelled and drop its result.
///
/// - Parameters:
///   - isolation: An actor on ``MainContextExecutor``. There is no default of `nil`: it would run the call on another
///     thread.
///   - start: Makes the call, and passes it the given callback and user data.
///   - finish: Calls the matching `…_finish` with the `GAsyncResult`, which is valid during this call only (transfer
///     none). Runs on the main context's thread as soon as the result is available.
package func finished<Value: Sendable>(
  isolation: isolated any Actor = #isolation,
  start: (@escaping GAsyncReadyCallback, gpointer) -> Void,
  finish: @escaping @Sendable (OpaquePointer) -> Value
) async -> Value {
  MainContextExecutor.shared.checkIsolated()
  return await withCheckedContinuation { continuation in
    let call = PendingCall { continuation.resume(returning: finish($0)) }
    // C owns the PendingCall until the callback takes it back. GLib runs the callback exactly once.
    start(callFinished, Unmanaged.passRetained(call).toOpaque())
  }
}

/// Holds the completion of one call while C keeps it as user data.
private final class PendingCall: Sendable {
  let complete: @Sendable (OpaquePointer) -> Void

  init(complete: @escaping @Sendable (OpaquePointer) -> Void) {
    self.complete = complete
  }
}

/// A `GAsyncReadyCallback`. GLib offers no destroy notify for it, so the callback takes ownership of the user data.
private nonisolated func callFinished(
  _: UnsafeMutablePointer<GObject>?, _ result: OpaquePointer?, _ data: gpointer?
) {
  guard let result, let data else { return }
  let object = UnsafeMutableRawPointer(result)
  if g_type_check_instance_is_a(object.assumingMemoryBound(to: GTypeInstance.self), g_task_get_type()) != 0 {
    // GTask: borrows the task (transfer none).
    g_task_set_check_cancellable(result, 0)
  }
  Unmanaged<PendingCall>.fromOpaque(data).takeRetainedValue().complete(result)
}
