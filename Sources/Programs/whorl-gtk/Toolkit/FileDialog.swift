internal import CAdwaita
internal import Primitives

/// The desktop's dialog that chooses a file or a folder.
enum FileDialog {
  enum Kind {
    case file, folder
  }

  /// - Parameter chosen: gets the path. Not called after Cancel, or for what is not on this computer.
  static func choose(_ kind: Kind, over window: Widget, chosen: @escaping (String) -> Void) {
    let action = kind == .folder ? GTK_FILE_CHOOSER_ACTION_SELECT_FOLDER : GTK_FILE_CHOOSER_ACTION_OPEN
    let title = kind == .folder ? Text.of("Choose a Folder") : Text.of("Choose a File")
    // gtk_file_chooser_native_new: transfer full, released when it has answered.
    let dialog = Widget(
      UnsafeMutableRawPointer(gtk_file_chooser_native_new(title, window.typed(), action, nil, nil)))
    dialog.onNumber("response") { response in
      if UInt32(truncatingIfNeeded: response) == UInt32(bitPattern: GTK_RESPONSE_ACCEPT.rawValue),
        // gtk_file_chooser_get_file: transfer full.
        let file = gtk_file_chooser_get_file(dialog.opaque)
      {
        path(of: file).map(chosen)
        g_object_unref(UnsafeMutableRawPointer(file))
      }
      g_object_unref(dialog.pointer)
    }
    gtk_native_dialog_show(dialog.typed())
  }

  /// The path of a GFile; nil for what is not on this computer.
  static func path(of file: OpaquePointer) -> String? {
    // g_file_get_path: transfer full.
    guard let path = g_file_get_path(file) else { return nil }
    defer { g_free(path) }
    return String(cString: path)
  }
}
