// The message buses of the machine and the session: their addresses and their own methods.

internal import Primitives

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

/// The sockets that the address of a message bus names, as the D-Bus specification writes addresses: alternatives that
/// are separated by `;`, each a transport with `key=value` pairs, in whose values `%` and two hexadecimal digits stand
/// for a byte. Alternatives other than sockets of this machine (`unix:`) are skipped.
package struct BusAddress: Sendable, Hashable {
  enum Socket: Sendable, Hashable {
    /// A full path.
    case path([UInt8])
    /// A name in Linux's abstract namespace, without the NUL that begins it.
    case abstract([UInt8])
  }

  /// In the order in which they are to be tried; never empty.
  let sockets: [Socket]

  /// Nil if no alternative is a socket that can be connected to.
  package init?(_ text: String) {
    sockets = text.utf8.split(separator: UInt8(ascii: ";")).compactMap(Self.socket)
    if sockets.isEmpty { return nil }
  }

  /// The address of the socket at a path.
  package static func of(socketAt path: String) -> String {
    var address = "unix:path="
    for byte in path.utf8 {
      if isPlain(byte) {
        address.unicodeScalars.append(Unicode.Scalar(byte))
      } else {
        address += "%" + Hexadecimal.text(of: byte)
      }
    }
    return address
  }

  /// Whether the specification allows the byte unescaped.
  private static func isPlain(_ byte: UInt8) -> Bool {
    switch byte {
    case UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "a")...UInt8(ascii: "z"),
      UInt8(ascii: "A")...UInt8(ascii: "Z"):
      true
    default: "-_/.\\*".utf8.contains(byte)
    }
  }

  /// The socket of one alternative. The id of the bus (`guid`) and unknown keys are ignored.
  private static func socket(_ alternative: Substring.UTF8View) -> Socket? {
    let transport = Array("unix:".utf8)
    guard alternative.starts(with: transport) else { return nil }
    var values: [String: [UInt8]] = [:]
    for pair in alternative.dropFirst(transport.count).split(separator: UInt8(ascii: ",")) {
      guard let equals = pair.firstIndex(of: UInt8(ascii: "=")), let key = String(pair[..<equals]),
        let value = unescaped(pair[pair.index(after: equals)...]), values.updateValue(value, forKey: key) == nil
      else { return nil }
    }
    switch (values["path"], values["abstract"]) {
    case (let path?, nil): return path.first == UInt8(ascii: "/") ? .path(path) : nil
    case (nil, let name?): return name.isEmpty ? nil : .abstract(name)
    default: return nil
    }
  }

  /// Nil for a value with a broken escape or a NUL. A byte that should have been escaped is taken as it is.
  private static func unescaped(_ value: Substring.UTF8View) -> [UInt8]? {
    var bytes: [UInt8] = []
    var rest = value
    while let byte = rest.popFirst() {
      guard byte == UInt8(ascii: "%") else {
        bytes.append(byte)
        continue
      }
      guard let digits = String(rest.prefix(2)), let byte = Hexadecimal.bytes(in: digits)?.first else { return nil }
      bytes.append(byte)
      rest = rest.dropFirst(2)
    }
    return bytes.contains(0) ? nil : bytes
  }
}
