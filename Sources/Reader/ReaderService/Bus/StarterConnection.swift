internal import ReaderBus
package import SDBus
internal import Synchronization

/// How a reader process comes to a message bus.
package protocol BusSocketSource: Sendable {
  /// A socket that is connected to the message bus at this address, on which nothing has been said yet.
  func socket(toBus address: String) async throws(BusError) -> BusDescriptor
}

/// The program that started this process connects for it, which is confined and cannot do it itself.
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

/// A unit of the system connects itself, so that the bus knows it as its own user.
package struct OwnBusSockets: BusSocketSource {
  package init() {}

  package func socket(toBus address: String) async throws(BusError) -> BusDescriptor { try .connected(toBus: address) }
}
