internal import CSystemd
internal import Glibc

/// Takes new connections, from a listening socket or from a process that listens and passes them on. Its state belongs to
/// ``BusLoop``.
package actor SocketIntake: BusLoopSource {
  /// Where connections come from.
  package enum Origin: Sendable {
    /// A listening socket (`listen(2)`).
    case listening(BusDescriptor)
    /// One end of a pair over which another process passes connections (``SocketPassing``).
    ///
    /// - Parameters:
    ///   - ended: called once, on the loop, when that process closes its end.
    case passed(BusDescriptor, ended: @Sendable () -> Void)

    fileprivate var descriptor: BusDescriptor {
      switch self {
      case .listening(let descriptor), .passed(let descriptor, _): descriptor
      }
    }
  }

  package nonisolated var unownedExecutor: UnownedSerialExecutor { BusLoop.shared.asUnownedSerialExecutor() }

  private let origin: Origin
  private var take: (@Sendable (Int32) -> Void)?
  private var taken: UInt64 = 0
  /// When to go on, in microseconds of `CLOCK_MONOTONIC`, after this process had no descriptor or memory left for a
  /// connection. The socket stays readable meanwhile, so polling it would never wait.
  private var pausedUntil: UInt64?

  package init(_ origin: Origin) throws(BusError) {
    self.origin = origin
    // A connection can be gone between `poll` and `accept`, which would then block the loop.
    let descriptor = origin.descriptor.rawValue
    guard fcntl(descriptor, F_SETFL, fcntl(descriptor, F_GETFL) | O_NONBLOCK) == 0 else { throw .system(errno) }
  }

  /// Begins. Call it on the loop.
  ///
  /// - Parameter take: called on the loop with each connected socket, which does not block and belongs to it from then on.
  package nonisolated func begin(_ take: @escaping @Sendable (Int32) -> Void) {
    assumeIsolated { $0.take = take }
    BusLoop.shared.add(self)
  }

  /// Takes no more. Call it on the loop.
  package nonisolated func end() {
    BusLoop.shared.remove(self)
    assumeIsolated { $0.take = nil }
  }

  /// Tells the process that passes connections that none of those so far is in use. It then closes its end, unless it has
  /// passed another one meanwhile. Call it on the loop.
  package nonisolated func sayUnused() {
    guard case .passed(let socket, _) = origin else { return }
    var count = assumeIsolated { $0.taken }
    // send: reads as many bytes as it is told. Without this message the process stays, and says it again later.
    _ = send(socket.rawValue, &count, 8, Int32(MSG_DONTWAIT | MSG_NOSIGNAL))
  }

  package nonisolated func pollRequest() -> BusPollRequest? {
    assumeIsolated { intake in
      if let pausedUntil = intake.pausedUntil {
        return BusPollRequest(descriptor: -1, events: 0, deadline: pausedUntil)
      }
      return BusPollRequest(descriptor: intake.origin.descriptor.rawValue, events: Int16(POLLIN))
    }
  }

  package nonisolated func dispatch() {
    assumeIsolated { $0.takeWaiting() }
  }

  private func takeWaiting() {
    pausedUntil = nil
    // At most 64 in a row, so that a flood of new connections does not starve existing ones.
    for _ in 0..<64 {
      switch next() {
      case .success(let socket):
        guard let take else {
          close(socket)
          return
        }
        take(socket)
      case .failure(.system(let code)) where [ECONNABORTED, EINTR].contains(code): continue
      case .failure(.system(EAGAIN)): return
      case .failure(.disconnected):
        guard case .passed(_, let ended) = origin else { return }
        end()
        ended()
        return
      case .failure:
        pausedUntil = LoopClock.now + 100_000
        return
      }
    }
  }

  private func next() -> Result<Int32, BusError> {
    switch origin {
    case .listening(let socket):
      // The address is not needed: a Unix socket's peer is identified by its credentials.
      let flags = Int32(SOCK_CLOEXEC.rawValue | SOCK_NONBLOCK.rawValue)
      let accepted = accept4(socket.rawValue, nil, nil, flags)
      return accepted >= 0 ? .success(accepted) : .failure(.system(errno))
    case .passed(let socket, _):
      var passed: Int32 = -1
      switch whorl_receive_descriptor(socket.rawValue, &passed) {
      case 0:
        taken += 1
        // Where this process has no descriptor left, the kernel closes the connection.
        return passed >= 0 ? .success(passed) : .failure(.system(EMFILE))
      case EPIPE, ECONNRESET: return .failure(.disconnected)
      case let code: return .failure(.system(code))
      }
    }
  }
}

/// This process's end of a pair over which it passes connections to another process, unread.
package actor SocketPassing: BusLoopSource {
  package nonisolated var unownedExecutor: UnownedSerialExecutor { BusLoop.shared.asUnownedSerialExecutor() }

  private let socket: BusDescriptor
  private let unused: @Sendable () -> Void
  private var passed: UInt64 = 0

  /// - Parameter unused: called on the loop when the process says that it uses none of the connections.
  private init(_ socket: BusDescriptor, unused: @escaping @Sendable () -> Void) {
    self.socket = socket
    self.unused = unused
  }

  /// Makes the pair and begins. Call it on the loop.
  ///
  /// - Returns: this process's end, and the other one.
  package static func begin(
    unused: @escaping @Sendable () -> Void
  ) throws(BusError) -> (own: SocketPassing, other: BusDescriptor) {
    var pair: [Int32] = [-1, -1]
    // The kernel writes two descriptors (transfer full). The bounds of messages are kept.
    guard socketpair(AF_UNIX, Int32(SOCK_SEQPACKET.rawValue | SOCK_CLOEXEC.rawValue), 0, &pair) == 0 else {
      throw .system(errno)
    }
    let own = SocketPassing(BusDescriptor(taking: pair[0]), unused: unused)
    BusLoop.shared.add(own)
    return (own, BusDescriptor(taking: pair[1]))
  }

  /// Stops listening to the process. It sees the end when this object is freed. Call it on the loop.
  package nonisolated func end() { BusLoop.shared.remove(self) }

  /// Passes a connected socket, which stays the caller's. Call it on the loop.
  ///
  /// - Throws: `disconnected` where the process has ended, `system(EAGAIN)` where it takes no more at this moment.
  package nonisolated func pass(_ connection: Int32) throws(BusError) {
    switch whorl_send_descriptor(socket.rawValue, connection) {
    case 0: assumeIsolated { $0.passed += 1 }
    case EPIPE, ECONNRESET: throw .disconnected
    case let code: throw .system(code)
    }
  }

  package nonisolated func pollRequest() -> BusPollRequest? {
    BusPollRequest(descriptor: socket.rawValue, events: Int16(POLLIN), isAwaited: false)
  }

  package nonisolated func dispatch() {
    var count: UInt64 = 0
    // recv: writes at most as many bytes as it is told
    let read = recv(socket.rawValue, &count, 8, Int32(MSG_DONTWAIT))
    // The end of the process is seen by its pidfd.
    guard read > 0 || read < 0 && errno == EAGAIN else { return end() }
    if read == 8, count == assumeIsolated({ $0.passed }) { unused() }
  }
}
