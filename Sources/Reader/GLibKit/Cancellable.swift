package import CFprint

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
