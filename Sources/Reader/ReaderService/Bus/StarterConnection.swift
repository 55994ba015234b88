internal import ReaderBus
package import SDBus
internal import Synchronization

/// Connects a reader process to a message bus.
package protocol BusSocketSource: Sendable {
  /// A socket that is connected to the message bus at this address, before any message or handshake.
  func socket(toBus address: String) async throws(BusError) -> BusDescriptor
}

/// Lets the program that started this process connect, since this process is confined.
package final class StarterConnection: BusSocketSource {
  private let connection = Mutex<BusConnection?>(nil)

  package init() {}

  /// Sets the connection for the calls. Call it before using the readers.
  package func use(_ connection: BusConnection) {
    self.connection.withLock { $0 = connection }
  }

  package func socket(toBus address: String) async throws(BusError) -> BusDescriptor {
    guard let connection = connection.withLock({ $0 }) else { throw .disconnected }
    let answer = try await connection.call(
      ReaderStarterInterface.target, ReaderStarterInterface.connectToBus, [.string(address)])
    guard let socket = answer.first?.asDescriptor else { throw .malformed }
    return socket
  }
}

/// Connects directly, for a system unit, so that the bus sees the unit's own user.
package struct OwnBusSockets: BusSocketSource {
  package init() {}

  package func socket(toBus address: String) async throws(BusError) -> BusDescriptor { try .connected(toBus: address) }
}
