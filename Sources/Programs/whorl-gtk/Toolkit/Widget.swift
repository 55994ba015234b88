internal import CAdwaita
internal import Glibc
internal import Primitives

/// A GObject of the interface. It is not retained: the window that it belongs to keeps it.
struct Widget {
  let pointer: UnsafeMutableRawPointer

  init(_ pointer: UnsafeMutableRawPointer) { self.pointer = pointer }
  /// A new object of a function that cannot fail.
  init(_ pointer: OpaquePointer) { self.pointer = UnsafeMutableRawPointer(pointer) }

  /// The pointer for functions that take a type whose members GTK hides.
  var opaque: OpaquePointer { OpaquePointer(pointer) }
  /// The pointer as the type that a function takes.
  func typed<Type>() -> UnsafeMutablePointer<Type> { pointer.assumingMemoryBound(to: Type.self) }

  // MARK: Properties

  func set(_ property: String, _ value: String) { whorl_set_string(pointer, property, value) }
  func set(_ property: String, _ value: Bool) { whorl_set_bool(pointer, property, value ? 1 : 0) }
  func set(_ property: String, _ value: Int) { whorl_set_uint(pointer, property, guint(value)) }
  func set(_ property: String, _ value: Widget?) { whorl_set_object(pointer, property, value?.pointer) }
  func bool(_ property: String) -> Bool { whorl_get_bool(pointer, property) != 0 }
  func number(_ property: String) -> Int { Int(whorl_get_uint(pointer, property)) }

  var isVisible: Bool {
    get { bool("visible") }
    nonmutating set { set("visible", newValue) }
  }
  var isSensitive: Bool {
    get { bool("sensitive") }
    nonmutating set { set("sensitive", newValue) }
  }

  /// The page that a stack or a leaflet shows.
  func show(_ page: String) { set("visible-child-name", page) }

  /// What a screen reader says for a control whose picture says it to others.
  func setSpokenName(_ name: String) { whorl_set_accessible_name(pointer, name) }

  /// Whether its display is one of Wayland, and not of X11.
  var isOnWayland: Bool {
    // gtk_widget_get_display: transfer none. The name is the class's.
    guard let display = gtk_widget_get_display(typed()) else { return false }
    return g_type_name_from_instance(Widget(display).typed()).map { String(cString: $0) } == "GdkWaylandDisplay"
  }

  func focus() { gtk_widget_grab_focus(typed()) }

  /// Has a spinner turn while it is on the screen, if that is longer than a second. Behind another page of a stack it would
  /// go on, and lay the window out anew sixty times a second.
  func spinWhileShown() {
    var waiting: MainLoop.Timer?
    on("map") {
      waiting = MainLoop.after(seconds: 1) {
        waiting = nil
        set("spinning", true)
      }
    }
    on("unmap") {
      waiting?.cancel()
      waiting = nil
      set("spinning", false)
    }
  }

  /// Gives a page for a state (AdwStatusPage) its icon when it is shown. Most of them never are, and their icons are so large
  /// that GTK reads them from SVG files, for which it loads a library of 7 MB.
  func setIconWhenShown(_ name: String) {
    set("icon-name", "")
    on("map") { set("icon-name", name) }
  }

  /// Calls a closure for all widgets below this one, and for this one.
  func forEach(_ body: (Widget) -> Void) {
    // gtk_widget_get_first_child, gtk_widget_get_next_sibling: transfer none.
    var child = gtk_widget_get_first_child(typed())
    while let widget = child {
      child = gtk_widget_get_next_sibling(widget)
      Widget(UnsafeMutableRawPointer(widget)).forEach(body)
    }
    body(self)
  }

  // MARK: Text

  /// The text of an entry, for what is not secret.
  var text: String {
    get { gtk_editable_get_text(opaque).map { String(cString: $0) } ?? "" }
    nonmutating set { gtk_editable_set_text(opaque, newValue) }
  }

  /// Whether an entry is empty. Copies nothing of its text, which may be secret.
  var isEmpty: Bool {
    // Borrows GTK's text for the comparison.
    gtk_editable_get_text(opaque).map { $0.pointee == 0 } ?? true
  }

  /// The text of an entry, as a secret. GTK keeps the text of password entries in memory that is not swapped, and wipes it.
  var secret: SecretBytes {
    // Borrows GTK's text until the next change of the entry.
    guard let text = gtk_editable_get_text(opaque) else { return SecretBytes(count: 0) }
    return SecretBytes(copying: UnsafeRawBufferPointer(start: text, count: strlen(text)))
  }

  /// Empties the widget if it is the part of an entry that has the text.
  func emptyText() {
    let isText = g_type_check_instance_is_a(typed(), gtk_text_get_type()) != 0
    guard isText, !isEmpty else { return }
    for signal in Self.changesOfText { dropHandlers(of: signal) }
    text = ""
  }

  /// Keeps what is typed into this password entry from programs that read windows. GTK tells all of them what is put into an
  /// entry and what is taken out, also of a password entry (seen with GTK 4.8).
  func keepTypingToItself() {
    // gtk_editable_get_delegate: transfer none. It is the part of the entry that has the text.
    guard let part = gtk_editable_get_delegate(opaque) else { return }
    for signal in Self.changesOfText { Widget(part).dropHandlersBeforeEach(signal) }
  }

  private static let changesOfText = ["insert-text", "delete-text"]

  /// Has no other handler of the signal called. This one is called first: the others were added after it, and are dropped.
  private func dropHandlersBeforeEach(_ signal: String) {
    on(signal) { [self] in
      dropHandlers(of: signal)
      dropHandlersBeforeEach(signal)
    }
  }

  private func dropHandlers(of signal: String) {
    let id = g_signal_lookup(signal, gtk_editable_get_type())
    while case let handler = g_signal_handler_find(pointer, whorl_match_id, id, 0, nil, nil, nil), handler != 0 {
      g_signal_handler_disconnect(pointer, handler)
    }
  }

  /// Puts a secret into an entry or a label.
  func show(_ secret: borrowing SecretBytes, as kind: TextKind) {
    var terminated = SecretBytes(count: secret.count + 1)
    terminated.withUnsafeMutableBytes { target in secret.withUnsafeBytes { target.copyMemory(from: $0) } }
    terminated.withUnsafeBytes { bytes in
      guard let text = bytes.baseAddress?.assumingMemoryBound(to: CChar.self) else { return }
      switch kind {
      case .entry: gtk_editable_set_text(opaque, text)
      case .label: gtk_label_set_text(opaque, text)
      }
    }
  }

  enum TextKind {
    case entry, label
  }

  // MARK: Signals

  /// Calls a closure at each emission, as long as the object exists. The answer counts for signals that take one: true
  /// stops further handlers.
  func onAnswered(_ signal: String, _ body: @escaping () -> Bool) {
    // GLib owns the handler, and releases it with the destroy notify.
    whorl_connect(pointer, signal, handlerCall, Unmanaged.passRetained(Handler(body)).toOpaque(), releaseHandler)
  }

  func on(_ signal: String, _ body: @escaping () -> Void) {
    onAnswered(signal) {
      body()
      return false
    }
  }

  /// The same for a signal with one argument.
  func onArgument(_ signal: String, _ body: @escaping (Widget?) -> Void) {
    whorl_connect_argument(
      pointer, signal, argumentHandlerCall, Unmanaged.passRetained(ArgumentHandler(body)).toOpaque(), releaseHandler)
  }

  /// The same for a signal with a number, such as a position in a list.
  func onNumber(_ signal: String, _ body: @escaping (Int) -> Void) {
    whorl_connect_number(
      pointer, signal, numberHandlerCall, Unmanaged.passRetained(NumberHandler(body)).toOpaque(), releaseHandler)
  }

  /// Frees the closures above, which are not called any more.
  func disconnect() {
    let calls = [
      unsafeBitCast(handlerCall, to: gpointer.self), unsafeBitCast(argumentHandlerCall, to: gpointer.self),
      unsafeBitCast(numberHandlerCall, to: gpointer.self),
    ]
    for call in calls {
      g_signal_handlers_disconnect_matched(pointer, whorl_match_func, 0, 0, nil, call, nil)
    }
  }
}

// GLib finds the handlers of an object by these.
private let handlerCall: WhorlHandler = callHandler
private let argumentHandlerCall: WhorlArgumentHandler = callArgumentHandler
private let numberHandlerCall: WhorlNumberHandler = callNumberHandler

private class AnyHandler {
  init() {}
}
private final class Handler: AnyHandler {
  let body: () -> Bool
  init(_ body: @escaping () -> Bool) { self.body = body }
}
private final class ArgumentHandler: AnyHandler {
  let body: (Widget?) -> Void
  init(_ body: @escaping (Widget?) -> Void) { self.body = body }
}

private final class NumberHandler: AnyHandler {
  let body: (Int) -> Void
  init(_ body: @escaping (Int) -> Void) { self.body = body }
}

private nonisolated func callHandler(_ data: gpointer?) -> gboolean {
  nonisolated(unsafe) let data = data
  return MainActor.assumeIsolated {
    guard let data else { return 0 }
    return Unmanaged<Handler>.fromOpaque(data).takeUnretainedValue().body() ? 1 : 0
  }
}

private nonisolated func callArgumentHandler(_: gpointer?, _ argument: gpointer?, _ data: gpointer?) {
  nonisolated(unsafe) let (argument, data) = (argument, data)
  MainActor.assumeIsolated {
    guard let data else { return }
    Unmanaged<ArgumentHandler>.fromOpaque(data).takeUnretainedValue().body(argument.map { Widget($0) })
  }
}

private nonisolated func callNumberHandler(_: gpointer?, _ number: guint, _ data: gpointer?) {
  nonisolated(unsafe) let data = data
  MainActor.assumeIsolated {
    guard let data else { return }
    Unmanaged<NumberHandler>.fromOpaque(data).takeUnretainedValue().body(Int(number))
  }
}

private nonisolated func releaseHandler(_ data: gpointer?, _: UnsafeMutablePointer<GClosure>?) {
  guard let data else { return }
  Unmanaged<AnyHandler>.fromOpaque(data).release()
}
