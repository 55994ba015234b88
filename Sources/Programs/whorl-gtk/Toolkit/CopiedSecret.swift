internal import CAdwaita
internal import Primitives

/// A secret in the clipboard. Programs that paste get it for some seconds, and an empty text from then on, until something else
/// is copied (decision 0224).
final class CopiedSecret {
  private var secret: SharedSecret?
  /// This clock also counts while the machine sleeps.
  private let end: ContinuousClock.Instant
  private let whenReplaced: () -> Void

  private init(_ secret: SharedSecret, seconds: Int, whenReplaced: @escaping () -> Void) {
    (self.secret, self.whenReplaced) = (secret, whenReplaced)
    end = .now + .seconds(seconds)
    _ = MainLoop.after(seconds: seconds) { [weak self] in self?.secret = nil }
  }

  /// Puts a secret into a clipboard.
  ///
  /// - Parameters:
  ///   - seconds: how long it can be pasted.
  ///   - whenReplaced: is called once, when something else is in the clipboard. Until then the program has to run: the
  ///     desktop would put its own copy of the secret into the clipboard.
  static func put(
    _ secret: SharedSecret, into clipboard: Widget, seconds: Int, whenReplaced: @escaping () -> Void
  ) {
    // g_object_new_with_properties: transfer full. It owns the Swift object, and the clipboard keeps it.
    guard let content = g_object_new_with_properties(contentType, 0, nil, nil) else { return whenReplaced() }
    let copied = CopiedSecret(secret, seconds: seconds, whenReplaced: whenReplaced)
    g_object_set_data_full(content, name, Unmanaged.passRetained(copied).toOpaque(), releaseObject)
    gdk_clipboard_set_content(
      clipboard.opaque, UnsafeMutableRawPointer(content).assumingMemoryBound(to: GdkContentProvider.self))
    g_object_unref(content)
  }

  /// What a program that pastes gets now.
  fileprivate var pasted: SharedSecret? { end > .now ? secret : nil }

  fileprivate func leave() {
    secret = nil
    whenReplaced()
  }

  fileprivate static func of(_ content: UnsafeMutablePointer<GdkContentProvider>?) -> CopiedSecret? {
    guard let content, let copied = g_object_get_data(Widget(content).typed(), name) else { return nil }
    return Unmanaged<CopiedSecret>.fromOpaque(copied).takeUnretainedValue()
  }

  private static let name = "whorl-secret"

  /// The class of the contents, in GLib.
  private static let contentType = g_type_register_static_simple(
    gdk_content_provider_get_type(), "WhorlCopiedSecret", guint(MemoryLayout<GdkContentProviderClass>.size),
    setUpClass, guint(MemoryLayout<GdkContentProvider>.size), nil, GTypeFlags(rawValue: 0))
}

private nonisolated func setUpClass(_ pointer: gpointer?, _: gpointer?) {
  guard let content = pointer?.assumingMemoryBound(to: GdkContentProviderClass.self) else { return }
  // gdk_content_formats_parse, gdk_content_formats_new: transfer full, as these functions return.
  content.pointee.ref_formats = { _ in gdk_content_formats_parse("text/plain;charset=utf-8 text/plain") }
  // What a clipboard manager of X11 would keep beyond the end of this program.
  content.pointee.ref_storable_formats = { _ in gdk_content_formats_new(nil, 0) }
  content.pointee.write_mime_type_async = writeContent
  content.pointee.write_mime_type_finish = { g_task_propagate_boolean($1, $2) }
  content.pointee.detach_clipboard = { content, _ in
    nonisolated(unsafe) let content = content
    MainActor.assumeIsolated { CopiedSecret.of(content)?.leave() }
  }
}

/// Writes from the secret's own memory, so that GLib makes no copy of it. A paste that has begun keeps the secret to its end.
private nonisolated func writeContent(
  _ content: UnsafeMutablePointer<GdkContentProvider>?, _: UnsafePointer<CChar>?,
  _ stream: UnsafeMutablePointer<GOutputStream>?, _ priority: CInt, _ cancellable: UnsafeMutablePointer<GCancellable>?,
  _ callback: GAsyncReadyCallback?, _ data: gpointer?
) {
  // g_task_new: transfer full.
  let task = g_task_new(content, cancellable, callback, data)
  nonisolated(unsafe) let copied = content
  guard let secret = MainActor.assumeIsolated({ CopiedSecret.of(copied)?.pasted }), !secret.bytes.isEmpty else {
    g_task_return_boolean(task, 1)
    return g_object_unref(UnsafeMutableRawPointer(task))
  }
  g_task_set_task_data(task, Unmanaged.passRetained(secret).toOpaque(), releaseObject)
  secret.bytes.withUnsafeBytes {
    // The memory is the secret's, which the task keeps.
    g_output_stream_write_all_async(
      stream, UnsafeMutableRawPointer(mutating: $0.baseAddress), gsize($0.count), priority, cancellable, finishWriting,
      UnsafeMutableRawPointer(task))
  }
}

private nonisolated func finishWriting(
  _ stream: UnsafeMutablePointer<GObject>?, _ result: OpaquePointer?, _ task: gpointer?
) {
  guard let stream, let task else { return }
  var error: UnsafeMutablePointer<GError>?
  let isWritten = g_output_stream_write_all_finish(
    UnsafeMutableRawPointer(stream).assumingMemoryBound(to: GOutputStream.self), result, nil, &error)
  // g_task_return_error takes the error over.
  if isWritten != 0 {
    g_task_return_boolean(OpaquePointer(task), 1)
  } else {
    g_task_return_error(OpaquePointer(task), error)
  }
  g_object_unref(task)
}

private nonisolated func releaseObject(_ data: gpointer?) {
  guard let data else { return }
  Unmanaged<AnyObject>.fromOpaque(data).release()
}
