package import CFprint

/// A `GCancellable`, cancelled on the main context's thread whoever asks for it.
///
/// GLib allows cancelling from any thread, but then the handlers run on that thread too, and libfprint's reach into a
/// device that the main context's thread may be using.
package struct Cancellable: Sendable {
  private let object: GObjectReference

  package init() {
    // g_cancellable_new: transfer full.
    object = GObjectReference(adopting: UnsafeMutableRawPointer(g_cancellable_new()))
  }

  /// For the C call that starts what can be cancelled. It takes a reference of its own.
  package var pointer: UnsafeMutablePointer<GCancellable> {
    object.pointer.assumingMemoryBound(to: GCancellable.self)
  }

  /// Cancels soon; does nothing the second time.
  package func cancel() {
    MainContextExecutor.shared.perform { g_cancellable_cancel(pointer) }
  }
}
