/// What the message bus itself is asked.
package enum MessageBus {
  /// The name, path and interface of the bus. No member can send under this name.
  package static let target = BusTarget(
    destination: "org.freedesktop.DBus", path: "/org/freedesktop/DBus", interface: "org.freedesktop.DBus")

  /// The bus's signal that a name has changed hands: the name, and its old and its new owner, empty for none.
  package static let nameOwnerChanged = "NameOwnerChanged"
}

extension BusConnection {
  /// Asks the bus for the signals of this member that the target emits.
  ///
  /// More than these may come: any member of the bus can send a signal to one other. Compare ``BusSignal/sender`` with
  /// the name's ``owner(of:)``.
  ///
  /// - Parameters:
  ///   - member: the one signal wanted; nil for every one of the interface.
  ///   - argument: what the signal's first argument must be.
  package func subscribe(to member: String? = nil, of target: BusTarget, argument: String? = nil) async throws(BusError)
  {
    var rule = "type='signal',path='\(target.path)',interface='\(target.interface)'"
    if let member { rule += ",member='\(member)'" }
    if let sender = target.destination { rule += ",sender='\(sender)'" }
    if let argument { rule += ",arg0='\(argument)'" }
    _ = try await call(MessageBus.target, "AddMatch", [.string(rule)])
  }

  /// The unique name of the member that owns this name now; nil when there is none.
  package func owner(of name: String) async throws(BusError) -> String? {
    do throws(BusError) {
      return try await call(MessageBus.target, "GetNameOwner", [.string(name)]).first?.asString
    } catch .remote(name: "org.freedesktop.DBus.Error.NameHasNoOwner", _) {
      return nil
    }
  }
}

extension BusConnection {
  /// Has the bus start who owns this name, where nobody owns it and the bus knows how. Returns when it is owned.
  package func start(_ name: String) async throws(BusError) {
    _ = try await call(MessageBus.target, "StartServiceByName", [.string(name), .uint32(0)])
  }

  /// The user that the member with this unique name runs as, as the kernel told the bus.
  package func userID(of uniqueName: String) async throws(BusError) -> UInt32? {
    try await call(MessageBus.target, "GetConnectionUnixUser", [.string(uniqueName)]).first?.asUInt32
  }
}

extension BusMessage {
  /// Whether this answer is from who was asked. A well-known name's owner answers under another name, which only the
  /// bus can tell; the bus answers for whoever does not.
  func mayAnswer(for destination: String?) -> Bool {
    guard let destination, destination.hasPrefix(":") || destination == MessageBus.target.destination else {
      return true
    }
    return sender == destination || sender == MessageBus.target.destination
  }
}
