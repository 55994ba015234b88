// One asynchronous call of GLib, its cancellation and its error.

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

/// A `GCancellable` that is always cancelled on the main context's thread.
///
/// GLib allows cancelling from any thread but runs the handlers on that thread. libfprint's handlers touch a device
/// that the main context's thread may be using.
package struct Cancellable: Sendable {
  private let object: GObjectReference

  package init() {
    // g_cancellable_new: transfer full.
    object = GObjectReference(adopting: UnsafeMutableRawPointer(g_cancellable_new()))
  }

  /// The pointer to pass to the C call that is to be cancellable. That call takes its own reference.
  package var pointer: UnsafeMutablePointer<GCancellable> {
    object.pointer.assumingMemoryBound(to: GCancellable.self)
  }

  /// Whether the cancellation has happened, not only been scheduled.
  package var isCancelled: Bool { g_cancellable_is_cancelled(pointer) != 0 }

  /// Schedules the cancellation on the main context's thread. A second call does nothing.
  package func cancel() {
    MainContextExecutor.shared.perform { g_cancellable_cancel(pointer) }
  }
}

/// A `GError`, copied out of C.
package struct GLibError: Error, Sendable {
  /// The error domain. It defines what ``code`` means.
  package let domain: GQuark
  /// The code within the domain.
  package let code: Int32
  /// GLib's message, for display.
  package let message: String

  /// Copies an error that the caller keeps (transfer none).
  package init(copying error: UnsafePointer<GError>) {
    domain = error.pointee.domain
    code = error.pointee.code
    message = error.pointee.message.map { String(cString: $0) } ?? ""
  }

  /// Calls a function that takes a `GError **`. If that returns an error, the error is copied, freed (transfer full)
  /// and returned as the failure.
  package static func catching<T>(
    _ body: (UnsafeMutablePointer<UnsafeMutablePointer<GError>?>) -> T
  ) -> Result<T, GLibError> {
    var error: UnsafeMutablePointer<GError>?
    let value = body(&error)
    guard let error else { return .success(value) }
    defer { g_error_free(error) }
    return .failure(GLibError(copying: error))
  }
}
