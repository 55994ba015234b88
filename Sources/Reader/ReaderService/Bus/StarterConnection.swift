// The connection of a reader process to its message bus, and its end when nobody uses it.

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

/// Ends a process that has had no running calls and no open reader for some time.
package actor IdleEnd: ReaderUseObserver {
  package nonisolated var unownedExecutor: UnownedSerialExecutor { BusLoop.shared.asUnownedSerialExecutor() }

  private let limit: Duration
  private let end: @Sendable () -> Void
  private var calls = 0
  private var isOpen = false
  private var timer: LoopTimer?

  /// - Parameter end: runs on the bus loop.
  package init(after limit: Duration, _ end: @escaping @Sendable () -> Void) {
    self.limit = limit
    self.end = end
  }

  /// Starts to measure the time. This starts the bus loop's thread.
  package nonisolated func begin() {
    BusLoop.shared.post { self.assumeIsolated { $0.look() } }
  }

  package nonisolated func callBegan() { note { $0.calls += 1 } }
  package nonisolated func callEnded() { note { $0.calls -= 1 } }
  package nonisolated func readerOpened() { note { $0.isOpen = true } }
  package nonisolated func readerClosed() { note { $0.isOpen = false } }

  private nonisolated func note(_ change: @Sendable (isolated IdleEnd) -> Void) {
    assumeIsolated { idle in
      change(idle)
      idle.look()
    }
  }

  private func look() {
    timer?.cancel()
    timer = calls == 0 && !isOpen ? LoopTimer(after: limit, end) : nil
  }
}
