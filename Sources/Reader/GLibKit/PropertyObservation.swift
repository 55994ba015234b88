internal import CFprint

/// Calls a closure on the main context's thread whenever a property of an object changes, until the observation is
/// deallocated.
///
/// `@unchecked Sendable`: immutable, and GLib disconnects signal handlers under its own lock.
package final class PropertyObservation: @unchecked Sendable {
  private let object: GObjectReference
  private let handler: gulong

  package init(of property: String, in object: GObjectReference, onChange: @escaping @Sendable () -> Void) {
    self.object = object
    // GLib owns the observer, and releases it through the destroy notify when the handler is disconnected.
    handler = whorl_connect_notify(
      object.pointer, "notify::\(property)", propertyChanged,
      Unmanaged.passRetained(Observer(onChange: onChange)).toOpaque(), releaseObserver)
  }

  deinit {
    g_signal_handler_disconnect(object.pointer, handler)
  }
}

private final class Observer: Sendable {
  let onChange: @Sendable () -> Void

  init(onChange: @escaping @Sendable () -> Void) {
    self.onChange = onChange
  }
}

private nonisolated func propertyChanged(
  _: UnsafeMutablePointer<GObject>?, _: UnsafeMutablePointer<GParamSpec>?, _ data: gpointer?
) {
  guard let data else { return }
  Unmanaged<Observer>.fromOpaque(data).takeUnretainedValue().onChange()
}

private nonisolated func releaseObserver(_ data: gpointer?, _: UnsafeMutablePointer<GClosure>?) {
  guard let data else { return }
  Unmanaged<Observer>.fromOpaque(data).release()
}
