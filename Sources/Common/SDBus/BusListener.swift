internal import Glibc

/// Takes the connections of Unix sockets and owns them: each is a peer-to-peer ``BusConnection`` in the role of the
/// server. Its state belongs to ``BusLoop``. Its owner must call ``close()``.
package actor BusListener {
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

  private let intake: SocketIntake
  private let limits: Limits
  private let connectionLimits: BusLimits
  private let isFull: @Sendable (_ user: UInt32) -> Bool
  private let accept: @Sendable (BusPeer) -> BusHandlers?
  private var isListening = true
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
  ///   - socket: A listening socket (`listen(2)`), unless connections are passed over it.
  ///   - passing: Where another process passes connections over the socket.
  ///   - isFull: Whether a further connection of this user has to wait until ``placeIsFree()`` is called, if it may wait.
  ///     Runs on the loop and must not block.
  ///   - accept: Returns the handlers of a new connection; nil closes it. Runs on the loop and must not block.
  package init(
    socket: BusDescriptor, limits: Limits = Limits(), connectionLimits: BusLimits = .init(),
    passing: SocketIntake.Passing? = nil,
    isFull: @escaping @Sendable (_ user: UInt32) -> Bool = { _ in false },
    accept: @escaping @Sendable (BusPeer) -> BusHandlers?
  ) throws(BusError) {
    intake = try SocketIntake(passing.map { .passed(socket, $0) } ?? .listening(socket))
    self.limits = limits
    self.connectionLimits = connectionLimits
    self.isFull = isFull
    self.accept = accept
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

  /// Tells the process that passes connections that none is in use, if that is so.
  package nonisolated func sayIfUnused() {
    BusLoop.shared.post {
      self.assumeIsolated { if $0.connections.isEmpty, $0.waiting.isEmpty { $0.intake.sayUnused() } }
    }
  }

  private func attach() {
    if isListening { intake.begin { socket in self.assumeIsolated { $0.open(socket) } } }
  }

  private func end() {
    isListening = false
    intake.end()
    for accepted in connections.values { accepted.connection.close() }
    for each in waiting { Glibc.close(each.socket) }
    waiting = []
  }

  // MARK: On the loop

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
