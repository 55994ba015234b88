internal import ReaderBus
package import SDBus
internal import Synchronization

/// Calls to the program that started this process, for what a confined process cannot do itself.
package final class StarterConnection: Sendable {
  private let connection = Mutex<BusConnection?>(nil)

  package init() {}

  /// Sets the connection for the calls. Call it before using the readers.
  package func use(_ connection: BusConnection) {
    self.connection.withLock { $0 = connection }
  }

  /// A socket that is connected to the message bus at this address.
  func socket(toBus address: String) async throws(BusError) -> BusDescriptor {
    guard let connection = connection.withLock({ $0 }) else { throw .disconnected }
    let answer = try await connection.call(
      ReaderStarterInterface.target, ReaderStarterInterface.connectToBus, [.string(address)])
    guard let socket = answer.first?.asDescriptor else { throw .malformed }
    return socket
  }
}
