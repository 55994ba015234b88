internal import Synchronization

/// An object's interface, as a peer names it.
package struct BusTarget: Sendable, Hashable {
  /// A name on the bus; nil on a peer-to-peer connection, and for a signal to whoever asked for it.
  package var destination: String?
  package var path: String
  package var interface: String

  package init(destination: String? = nil, path: String, interface: String) {
    self.destination = destination
    self.path = path
    self.interface = interface
  }
}

/// A signal that came in.
package struct BusSignal: Sendable {
  /// The unique name of the member of the bus that emitted it, as the bus says; nothing of worth from a peer.
  package let sender: String?
  package let path: String
  package let interface: String
  package let member: String
  package let arguments: [BusValue]
}

/// A method call that came in. It is answered once; one that is dropped unanswered fails.
package final class BusCall: Sendable {
  /// The unique name of the member of the bus that calls, as the bus says; nothing of worth from a peer.
  package let sender: String?
  package let path: String
  package let interface: String
  package let member: String
  /// The D-Bus signature of the arguments.
  package let signature: String
  package let arguments: [BusValue]
  /// Where it came from, for signals that belong to this call.
  package let connection: BusConnection

  private let cookie: UInt64
  private let answered = Atomic(false)

  init(
    sender: String?, path: String, interface: String, member: String, signature: String, arguments: [BusValue],
    connection: BusConnection, cookie: UInt64
  ) {
    self.sender = sender
    self.path = path
    self.interface = interface
    self.member = member
    self.signature = signature
    self.arguments = arguments
    self.connection = connection
    self.cookie = cookie
  }

  /// Answers the call. What was emitted before goes out before.
  package func answer(_ values: [BusValue] = []) {
    finish(.success(values))
  }

  /// Answers the call with a D-Bus error.
  package func fail(_ name: String, _ message: String) {
    finish(.failure(.remote(name: name, message: message)))
  }

  private func finish(_ result: Result<[BusValue], BusError>) {
    guard !answered.exchange(true, ordering: .relaxed) else { return }
    connection.answer(cookie, result)
  }

  deinit {
    finish(.failure(.remote(name: "org.freedesktop.DBus.Error.Failed", message: "the call was dropped")))
  }
}
