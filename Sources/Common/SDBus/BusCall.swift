internal import Synchronization

/// A method call that was received. It must be answered exactly once. If it is deallocated unanswered, the caller gets
/// an error.
package final class BusCall: Sendable {
  /// The caller's unique name, filled in by the message bus. A peer can write anything here, so do not use it without a
  /// bus.
  package let sender: String?
  package let path: String
  package let interface: String
  package let member: String
  /// The D-Bus signature of the arguments.
  package let signature: String
  package let arguments: [BusValue]
  /// The connection the call came from. Signals that belong to this call are sent over it.
  package let connection: BusConnection

  private let id: BusCallID
  private let answered = Atomic(false)

  init(_ message: BusMessage, _ arguments: [BusValue], _ id: BusCallID, from connection: BusConnection) {
    sender = message.sender
    path = message.path
    interface = message.interface
    member = message.member
    signature = message.signature
    self.arguments = arguments
    self.connection = connection
    self.id = id
  }

  /// Sends the method return. Signals emitted before are sent before it.
  ///
  /// - Parameter kept: released when the caller has read all that was sent to it, at most 100 milliseconds later, or when
  ///   the connection has ended.
  package func answer(_ values: [BusValue] = [], keeping kept: (any AnyObject & Sendable)? = nil) {
    finish(.success(values), keeping: kept)
  }

  /// Sends a D-Bus error as the answer.
  ///
  /// - Parameter details: further arguments of the error, after its text.
  package func fail(_ name: String, _ message: String, details: [BusValue] = []) {
    finish(.failure(.remote(name: name, message: message, details: details)))
  }

  private func finish(_ result: Result<[BusValue], BusError>, keeping kept: (any AnyObject & Sendable)? = nil) {
    guard !answered.exchange(true, ordering: .relaxed) else { return }
    connection.answer(id, result, keeping: kept)
  }

  deinit {
    finish(.failure(.remote(name: "org.freedesktop.DBus.Error.Failed", message: "the call was dropped")))
  }
}

/// A signal that was received.
package struct BusSignal: Sendable {
  /// The sender's unique name, filled in by the message bus. A peer can write anything here, so do not use it without a
  /// bus.
  package let sender: String?
  package let path: String
  package let interface: String
  package let member: String
  package let arguments: [BusValue]
  /// The connection the signal came from.
  package let connection: BusConnection

  init(_ message: BusMessage, _ arguments: [BusValue], from connection: BusConnection) {
    sender = message.sender
    path = message.path
    interface = message.interface
    member = message.member
    self.arguments = arguments
    self.connection = connection
  }
}
