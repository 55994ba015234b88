internal import CAdwaita

/// An object of this program on the session's bus.
enum BusObject {
  /// Exports an object, for as long as the program runs. Done before the program has its name on the bus, it also gets the
  /// call for which the bus has started the program. Does nothing where there is no bus.
  ///
  /// - Parameters:
  ///   - interface: one of its interfaces, in the XML of introspection. GLib refuses calls of another form.
  ///   - handle: is called on the main actor, and answers each call once.
  static func export(_ path: String, _ interface: String, _ handle: @escaping (Call) -> Void) {
    // g_bus_get_sync: transfer full; the connection is the application's, too, and stays open.
    guard let bus = g_bus_get_sync(G_BUS_TYPE_SESSION, nil, nil) else { return }
    // g_dbus_node_info_new_for_xml: transfer full.
    guard let node = g_dbus_node_info_new_for_xml(interface, nil) else { fatalError("an unreadable interface") }
    var calls = GDBusInterfaceVTable()
    calls.method_call = handleCall
    // Copies the table, and keeps the interface. GLib owns the handler, and releases it with the destroy notify.
    g_dbus_connection_register_object(
      bus, path, node.pointee.interfaces?[0], &calls, Unmanaged.passRetained(Handler(handle)).toOpaque(),
      releaseHandler, nil)
    g_dbus_node_info_unref(node)
  }

  /// A call of one of its methods.
  struct Call {
    let method: String
    fileprivate let invocation: OpaquePointer

    // MARK: Arguments, by their places and of the types that the interface says

    func texts(_ place: Int) -> [String] {
      argument(place) { value in
        var count: gsize = 0
        // g_variant_get_strv: the array is ours, and its texts are the value's.
        guard let array = g_variant_get_strv(value, &count) else { return [] }
        defer { g_free(array) }
        return (0..<Int(clamping: count)).compactMap { array[$0].map { String(cString: $0) } }
      }
    }

    func text(_ place: Int) -> String {
      // g_variant_get_string: transfer none.
      argument(place) { String(cString: g_variant_get_string($0, nil)) }
    }

    private func argument<Value>(_ place: Int, _ read: (OpaquePointer?) -> Value) -> Value {
      // g_dbus_method_invocation_get_parameters: transfer none. g_variant_get_child_value: transfer full.
      let value = g_variant_get_child_value(g_dbus_method_invocation_get_parameters(invocation), gsize(place))
      defer { g_variant_unref(value) }
      return read(value)
    }

    /// Answers the call, which cannot be used any more.
    func answer(_ values: Variant...) {
      var values = values.map(\.value)
      // The tuple takes the values over, and the answer takes over the tuple and the call.
      g_dbus_method_invocation_return_value(invocation, g_variant_new_tuple(&values, gsize(values.count)))
    }
  }

  fileprivate final class Handler {
    let handle: (Call) -> Void
    init(_ handle: @escaping (Call) -> Void) { self.handle = handle }
  }
}

/// A value of an answer. What it becomes a part of takes it over.
struct Variant {
  fileprivate let value: OpaquePointer?

  init(_ text: String) { value = g_variant_new_string(text) }

  init(_ number: Int32) { value = g_variant_new_int32(number) }

  init(_ number: Double) { value = g_variant_new_double(number) }

  init(_ texts: [String]) { self.init(of: "s", texts.map { Variant($0) }) }

  init(_ dictionary: [String: String]) {
    self.init(
      of: "{sv}",
      dictionary.map { Variant(g_variant_new_dict_entry(Variant($0).value, g_variant_new_variant(Variant($1).value))) })
  }

  init(_ dictionaries: [[String: String]]) { self.init(of: "a{sv}", dictionaries.map { Variant($0) }) }

  init(tuple parts: Variant...) {
    var parts = parts.map(\.value)
    value = g_variant_new_tuple(&parts, gsize(parts.count))
  }

  /// An array of elements that have this type.
  init(of type: String, _ elements: [Variant]) {
    // g_variant_type_new: transfer full.
    let type = g_variant_type_new(type)
    defer { g_variant_type_free(type) }
    var elements = elements.map(\.value)
    value = g_variant_new_array(type, &elements, gsize(elements.count))
  }

  private init(_ value: OpaquePointer?) { self.value = value }
}

private nonisolated func handleCall(
  _: OpaquePointer?, _: UnsafePointer<CChar>?, _: UnsafePointer<CChar>?, _: UnsafePointer<CChar>?,
  _ method: UnsafePointer<CChar>?, _: OpaquePointer?, _ invocation: OpaquePointer?, _ data: gpointer?
) {
  nonisolated(unsafe) let (method, invocation, data) = (method, invocation, data)
  MainActor.assumeIsolated {
    guard let method, let invocation, let data else { return }
    Unmanaged<BusObject.Handler>.fromOpaque(data).takeUnretainedValue().handle(
      BusObject.Call(method: String(cString: method), invocation: invocation))
  }
}

private nonisolated func releaseHandler(_ data: gpointer?) {
  guard let data else { return }
  Unmanaged<BusObject.Handler>.fromOpaque(data).release()
}
