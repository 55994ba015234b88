/// One interface of an object at a peer.
package struct BusTarget: Sendable, Hashable {
  /// A name on the bus. Nil on a peer-to-peer connection, and for a signal to everybody who subscribed to it.
  package var destination: String?
  package var path: String
  package var interface: String

  package init(destination: String? = nil, path: String, interface: String) {
    self.destination = destination
    self.path = path
    self.interface = interface
  }
}
