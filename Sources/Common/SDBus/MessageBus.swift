/// The message bus itself: its name, and the methods of `org.freedesktop.DBus` that Whorl calls.
package enum MessageBus {
  /// The address of the machine's system bus.
  package static let system = "unix:path=/run/dbus/system_bus_socket"

  /// The bus's own name, which no member can use.
  package static let name = "org.freedesktop.DBus"

  /// The bus's own name, path and interface.
  package static let target = BusTarget(destination: name, path: "/org/freedesktop/DBus", interface: name)

  /// The bus's signal for a change of a name's owner. Its arguments are the name, the old owner and the new owner; an
  /// empty string means no owner.
  package static let nameOwnerChanged = "NameOwnerChanged"
}

extension BusConnection {
  /// Subscribes to a signal of the target.
  ///
  /// Other signals may arrive too, because any member can send a signal directly to another one. Compare
  /// ``BusSignal/sender`` with the name's ``owner(of:)``.
  ///
  /// - Parameters:
  ///   - member: The signal. Nil subscribes to all signals of the interface.
  ///   - argument: The value that the signal's first argument must have.
  package func subscribe(to member: String? = nil, of target: BusTarget, argument: String? = nil) async throws(BusError)
  {
    var rule = "type='signal',path='\(target.path)',interface='\(target.interface)'"
    if let member { rule += ",member='\(member)'" }
    if let sender = target.destination { rule += ",sender='\(sender)'" }
    if let argument { rule += ",arg0='\(argument)'" }
    _ = try await call(MessageBus.target, "AddMatch", [.string(rule)])
  }

  /// The unique name of the name's current owner. Nil if it has no owner.
  package func owner(of name: String) async throws(BusError) -> String? {
    do throws(BusError) {
      return try await call(MessageBus.target, "GetNameOwner", [.string(name)]).first?.asString
    } catch .remote(name: "org.freedesktop.DBus.Error.NameHasNoOwner", _, _) {
      return nil
    }
  }
}

extension BusMessage {
  /// Whether this answer comes from the member that was called. If the destination is a well-known name, its owner
  /// answers under a unique name, so any sender is accepted. The bus itself answers for a member that cannot.
  func mayAnswer(for destination: String?) -> Bool {
    guard let destination, destination.hasPrefix(":") || destination == MessageBus.target.destination else {
      return true
    }
    return sender == destination || sender == MessageBus.target.destination
  }
}
