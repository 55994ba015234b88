internal import CAdwaita

extension Widget {
  /// Calls a closure with the path of a file that is dropped onto the widget.
  func onDrop(_ body: @escaping (String) -> Void) {
    // gtk_drop_target_new: transfer full, and the widget takes it over.
    let target = Widget(UnsafeMutableRawPointer(gtk_drop_target_new(g_file_get_type(), GDK_ACTION_COPY)))
    // GLib owns the handler, and releases it with the destroy notify.
    whorl_connect_drop(
      target.pointer, callDropHandler, Unmanaged.passRetained(DropHandler(body)).toOpaque(), releaseDropHandler)
    gtk_widget_add_controller(typed(), target.opaque)
  }
}

private final class DropHandler {
  let body: (String) -> Void
  init(_ body: @escaping (String) -> Void) { self.body = body }
}

private nonisolated func callDropHandler(
  _: gpointer?, _ value: UnsafePointer<GValue>?, _: Double, _: Double, _ data: gpointer?
) -> gboolean {
  nonisolated(unsafe) let (value, data) = (value, data)
  return MainActor.assumeIsolated {
    // g_value_get_object: transfer none. The target takes values of this type alone.
    guard let data, let file = g_value_get_object(value), let path = FileDialog.path(of: OpaquePointer(file)) else {
      return 0
    }
    Unmanaged<DropHandler>.fromOpaque(data).takeUnretainedValue().body(path)
    return 1
  }
}

private nonisolated func releaseDropHandler(_ data: gpointer?, _: UnsafeMutablePointer<GClosure>?) {
  guard let data else { return }
  Unmanaged<DropHandler>.fromOpaque(data).release()
}
