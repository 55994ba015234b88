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
