internal import CFprint

/// One counted reference to a GObject.
///
/// `@unchecked Sendable`: GObject counts references atomically, and ``pointer`` is only used on the main context's
/// thread.
package final class GObjectReference: @unchecked Sendable {
  /// The object. Valid as long as this reference exists.
  package let pointer: UnsafeMutableRawPointer

  /// Takes over a reference that the caller owns (transfer full).
  package init(adopting pointer: UnsafeMutableRawPointer) {
    self.pointer = pointer
  }

  /// Adds a reference to an object that somebody else owns (transfer none), or sinks a floating reference.
  package init(retaining pointer: UnsafeMutableRawPointer) {
    g_object_ref_sink(pointer)
    self.pointer = pointer
  }

  deinit {
    g_object_unref(pointer)
  }

  /// A copy of a string property. Nil if it is NULL or not a string.
  package func string(_ property: String) -> String? {
    withProperty(property) { value in
      guard g_type_check_value_holds(value, stringType) != 0 else { return nil }
      // g_value_get_string: transfer none.
      return g_value_get_string(value).map { String(cString: $0) }
    }
  }

  /// A Boolean property. False if the object has no such property.
  package func bool(_ property: String) -> Bool {
    withProperty(property) { value in
      g_type_check_value_holds(value, booleanType) != 0 && g_value_get_boolean(value) != 0
    }
  }

  /// An object property. Nil if it is NULL or not an object.
  package func object(_ property: String) -> GObjectReference? {
    withProperty(property) { value in
      guard g_type_check_value_holds(value, objectType) != 0 else { return nil }
      // g_value_dup_object: transfer full.
      return g_value_dup_object(value).map { GObjectReference(adopting: $0) }
    }
  }

  /// Reads a property into a `GValue` and unsets that value afterwards. If the property does not exist or cannot be
  /// read, the `GValue` has no type: reading such a property would make GLib print a warning.
  private func withProperty<T>(_ name: String, _ body: (UnsafeMutablePointer<GValue>) -> T) -> T {
    var value = GValue()
    let object = pointer.assumingMemoryBound(to: GObject.self)
    let objectClass = pointer.assumingMemoryBound(to: GTypeInstance.self).pointee.g_class
    // g_object_class_find_property: transfer none.
    let specification = objectClass.flatMap {
      g_object_class_find_property(UnsafeMutableRawPointer($0).assumingMemoryBound(to: GObjectClass.self), name)
    }
    if let specification, whorl_is_readable(specification) != 0 {
      g_object_get_property(object, name, &value)
    }
    defer { if value.g_type != 0 { g_value_unset(&value) } }
    return body(&value)
  }
}

// Swift does not import the fundamental types: they are macros that shift a constant (`G_TYPE_MAKE_FUNDAMENTAL`).
private let booleanType = GType(5) << 2
private let stringType = GType(16) << 2
private let objectType = GType(20) << 2

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
