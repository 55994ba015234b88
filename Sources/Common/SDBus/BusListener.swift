internal import CSystemd
internal import Glibc

/// Accepts the connections of a listening Unix socket and owns them: each is a peer-to-peer ``BusConnection`` in the
/// role of the server. Its state belongs to ``BusLoop``. Its owner must call ``close()``.
package actor BusListener: BusLoopSource {
  package struct Limits: Sendable {
    /// The most connections at a time. Further ones are closed as soon as they are accepted.
    package var connections = 512
    /// The most connections of one user at a time.
    package var connectionsOfOneUser = 64
    /// The most connections of one user that wait for a place, unread. See ``BusListener/init(socket:limits:connectionLimits:isFull:accept:)``.
    package var waitingOfOneUser = 0
    /// How long a connection waits. After that it is accepted as it is.
    package var waitingTime = Duration.seconds(10)

    package init() {}
  }

  package nonisolated var unownedExecutor: UnownedSerialExecutor { BusLoop.shared.asUnownedSerialExecutor() }

  private let socket: BusDescriptor
  private let limits: Limits
  private let connectionLimits: BusLimits
  private let isFull: @Sendable (_ user: UInt32) -> Bool
  private let accept: @Sendable (BusPeer) -> BusHandlers?
  private var isListening = true
  /// When to accept again, in microseconds of `CLOCK_MONOTONIC`, after this process had no descriptor or memory left
  /// for a connection. The socket stays readable meanwhile, so polling it would never wait.
  private var pausedUntil: UInt64?
  private var connections: [UInt64: Accepted] = [:]
  /// The connections that wait for a place, in order.
  private var waiting: [Waiting] = []
  private var lastNumber: UInt64 = 0

  private struct Accepted {
    let connection: BusConnection
    let userID: UInt32
  }

  /// A connection that nothing was read from. It owns its socket.
  private struct Waiting {
    let number: UInt64
    let socket: Int32
    let peer: BusPeer
  }

  /// - Parameters:
  ///   - socket: A listening socket (`listen(2)`).
  ///   - isFull: Whether a further connection of this user has to wait until ``placeIsFree()`` is called, if it may wait.
  ///     Runs on the loop and must not block.
  ///   - accept: Returns the handlers of a new connection; nil closes it. Runs on the loop and must not block.
  package init(
    socket: BusDescriptor, limits: Limits = Limits(), connectionLimits: BusLimits = .init(),
    isFull: @escaping @Sendable (_ user: UInt32) -> Bool = { _ in false },
    accept: @escaping @Sendable (BusPeer) -> BusHandlers?
  ) throws(BusError) {
    self.socket = socket
    self.limits = limits
    self.connectionLimits = connectionLimits
    self.isFull = isFull
    self.accept = accept
    // A connection can be gone between `poll` and `accept`, which would then block the loop.
    guard fcntl(socket.rawValue, F_SETFL, fcntl(socket.rawValue, F_GETFL) | O_NONBLOCK) == 0 else {
      throw .system(errno)
    }
    BusLoop.shared.post { self.assumeIsolated { $0.attach() } }
  }

  /// Stops accepting and ends every connection. The socket is closed when its last owner releases it.
  package nonisolated func close() {
    BusLoop.shared.post { self.assumeIsolated { $0.end() } }
  }

  /// Says that `isFull` may have become false.
  package nonisolated func placeIsFree() {
    BusLoop.shared.post { self.assumeIsolated { $0.letIn() } }
  }

  private func attach() {
    if isListening { BusLoop.shared.add(self) }
  }

  private func end() {
    isListening = false
    BusLoop.shared.remove(self)
    for accepted in connections.values { accepted.connection.close() }
    for each in waiting { Glibc.close(each.socket) }
    waiting = []
  }

  // MARK: On the loop

  package nonisolated func pollRequest() -> BusPollRequest? {
    assumeIsolated { listener in
      if let pausedUntil = listener.pausedUntil {
        return BusPollRequest(descriptor: -1, events: 0, deadline: pausedUntil)
      }
      return BusPollRequest(descriptor: listener.socket.rawValue, events: Int16(POLLIN))
    }
  }

  package nonisolated func dispatch() {
    assumeIsolated { $0.acceptWaiting() }
  }

  private func acceptWaiting() {
    pausedUntil = nil
    // At most 64 in a row, so that a flood of new connections does not starve existing ones.
    for _ in 0..<64 {
      // The address is not needed: a Unix socket's peer is identified by its credentials.
      let accepted = accept4(socket.rawValue, nil, nil, Int32(SOCK_CLOEXEC.rawValue | SOCK_NONBLOCK.rawValue))
      if accepted >= 0 {
        open(accepted)
        continue
      }
      switch errno {
      case ECONNABORTED, EINTR: continue
      case EAGAIN: return
      default:
        pausedUntil = LoopClock.now + 100_000
        return
      }
    }
  }

  /// Takes ownership of the socket.
  private func open(_ accepted: Int32) {
    guard connections.count + waiting.count < limits.connections, let peer = try? BusPeer(of: accepted) else {
      Glibc.close(accepted)
      return
    }
    guard isFull(peer.userID), waiting.count(where: { $0.peer.userID == peer.userID }) < limits.waitingOfOneUser else {
      return begin(accepted, peer)
    }
    lastNumber += 1
    let number = lastNumber
    waiting.append(Waiting(number: number, socket: accepted, peer: peer))
    _ = LoopTimer(after: limits.waitingTime) { [weak self] in self?.assumeIsolated { $0.endWait(of: number) } }
  }

  private func endWait(of number: UInt64) {
    guard let place = waiting.firstIndex(where: { $0.number == number }) else { return }
    let ended = waiting.remove(at: place)
    begin(ended.socket, ended.peer)
  }

  /// Begins the waiting connections for which there are places now.
  private func letIn() {
    var full: Set<UInt32> = []
    for each in waiting where !full.contains(each.peer.userID) {
      if isFull(each.peer.userID) { full.insert(each.peer.userID) } else { endWait(of: each.number) }
    }
  }

  /// Takes ownership of the socket.
  private func begin(_ accepted: Int32, _ peer: BusPeer) {
    guard connections.values.count(where: { $0.userID == peer.userID }) < limits.connectionsOfOneUser,
      var handlers = accept(peer)
    else {
      Glibc.close(accepted)
      return
    }
    lastNumber += 1
    let number = lastNumber
    let closed = handlers.closed
    handlers.closed = {
      closed()
      self.assumeIsolated { $0.connections[number] = nil }
    }
    guard
      let connection = try? BusConnection(
        socket: accepted, role: .server, limits: connectionLimits, handlers: handlers)
    else {
      // The client has disconnected already.
      closed()
      return
    }
    connections[number] = Accepted(connection: connection, userID: peer.userID)
  }
}
