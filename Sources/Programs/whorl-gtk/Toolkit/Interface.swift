internal import CAdwaita
internal import Primitives

/// The objects of one file of the interface (GtkBuilder), by their ids. It keeps all of them.
final class Interface {
  private let builder: OpaquePointer
  /// Whether ``close()`` has closed the window.
  private(set) var isClosed = false

  /// - Parameter file: the bytes of a file in `ui/`, which are part of the program.
  init(_ file: [UInt8]) {
    // gtk_builder_new: transfer full.
    builder = gtk_builder_new()
    gtk_builder_set_translation_domain(builder, Text.domain)
    var error: UnsafeMutablePointer<GError>?
    let isRead = file.withUnsafeBytes {
      gtk_builder_add_from_string(
        builder, $0.baseAddress?.assumingMemoryBound(to: CChar.self), gssize($0.count), &error)
    }
    guard isRead != 0 else {
      fatalError(error.map { String(cString: $0.pointee.message) } ?? "an unreadable interface")
    }
    forEach([gtk_password_entry_get_type(), adw_password_entry_row_get_type()]) { $0.keepTypingToItself() }
    forEach([adw_status_page_get_type()]) { page in
      // whorl_get_string: transfer full.
      guard let name = whorl_get_string(page.pointer, "icon-name") else { return }
      page.setIconWhenShown(String(cString: name))
      g_free(name)
    }
  }

  /// Calls a closure for the objects of the file that have one of these types.
  private func forEach(_ types: [GType], _ body: (Widget) -> Void) {
    // gtk_builder_get_objects: the list is ours, its objects are the builder's.
    let objects = gtk_builder_get_objects(builder)
    defer { g_slist_free(objects) }
    var next = objects
    while let object = next {
      next = object.pointee.next
      guard let data = object.pointee.data else { continue }
      let widget = Widget(data)
      if types.contains(where: { g_type_check_instance_is_a(widget.typed(), $0) != 0 }) { body(widget) }
    }
  }

  /// The object with this id. A file without it is a defect of the program.
  subscript(_ id: String) -> Widget {
    // gtk_builder_get_object: transfer none.
    guard let object = gtk_builder_get_object(builder, id) else { fatalError("the interface has no \(id)") }
    return Widget(UnsafeMutableRawPointer(object))
  }

  // MARK: A window over the main one

  /// Shows the `window` of the file over another one.
  ///
  /// - Parameter leave: what its button `cancel` does, and what closes it in other ways while that button can be pressed.
  ///   Usually it only closes the window.
  func present(over parent: Widget, leave: (() -> Void)? = nil) {
    let leave = leave ?? { [weak self] in self?.close() }
    let (window, cancel) = (self["window"], self["cancel"])
    window.set("transient-for", parent)
    cancel.on("clicked", leave)
    window.onAnswered("close-request") {
      if cancel.isSensitive { leave() }
      return true
    }
    gtk_window_present(window.typed())
  }

  /// Closes the window for good. Nothing stays of it: its entries are emptied, and the closures of its signals, which keep
  /// the owner of this interface and what that knows, are freed.
  func close() {
    guard !isClosed else { return }
    isClosed = true
    let window = self["window"]
    window.forEach { $0.disconnect() }
    window.forEach { $0.emptyText() }
    gtk_window_destroy(window.typed())
  }
}
