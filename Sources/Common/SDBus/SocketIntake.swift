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
    case passed(BusDescriptor, Passing)

    fileprivate var descriptor: BusDescriptor {
      switch self {
      case .listening(let descriptor), .passed(let descriptor, _): descriptor
      }
    }
  }

  /// What a process does to which another one passes connections.
  package struct Passing: Sendable {
    fileprivate let willTake: @Sendable () -> Void
    fileprivate let ended: @Sendable () -> Void

    /// - Parameters:
    ///   - willTake: called on the loop before a connection is taken. If this process ends in it, the next one gets the
    ///     connection.
    ///   - ended: called once, on the loop, when the other process closes its end.
    package init(willTake: @escaping @Sendable () -> Void, ended: @escaping @Sendable () -> Void) {
      (self.willTake, self.ended) = (willTake, ended)
    }
  }

  package nonisolated var unownedExecutor: UnownedSerialExecutor { BusLoop.shared.asUnownedSerialExecutor() }

  private let origin: Origin
  private var take: (@Sendable (Int32) -> Void)?
  private var taken: UInt64 = 0
  /// Whether the process that passes connections has not been told yet how many were taken.
  private var isReportDue = false
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
    // Without this message the process stays, and says it again later.
    assumeIsolated { $0.report(areUnused: true) }
  }

  private func report(areUnused: Bool = false) {
    guard case .passed(let socket, _) = origin else { return }
    isReportDue = !PassingReport(taken: taken, areUnused: areUnused).send(to: socket)
  }

  package nonisolated func pollRequest() -> BusPollRequest? {
    assumeIsolated { intake in
      if let pausedUntil = intake.pausedUntil {
        return BusPollRequest(descriptor: -1, events: 0, deadline: pausedUntil)
      }
      let events = intake.isReportDue ? POLLIN | POLLOUT : POLLIN
      return BusPollRequest(descriptor: intake.origin.descriptor.rawValue, events: Int16(events))
    }
  }

  package nonisolated func dispatch() {
    assumeIsolated { $0.takeWaiting() }
  }

  private func takeWaiting() {
    pausedUntil = nil
    if isReportDue { report() }
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
        guard case .passed(_, let passing) = origin else { return }
        end()
        passing.ended()
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
    case .passed(let socket, let passing):
      var passed: Int32 = -1
      switch whorl_receive_descriptor(socket.rawValue, &passed) {
      case 0:
        passing.willTake()
        taken += 1
        // Before anything is read from the connection. If this process ends before it has sent this, the one that
        // passes connections gives it to the next process.
        report()
        // Where this process has no descriptor left, the kernel closes the connection.
        return passed >= 0 ? .success(passed) : .failure(.system(EMFILE))
      case EPIPE, ECONNRESET: return .failure(.disconnected)
      case let code: return .failure(.system(code))
      }
    }
  }
}

/// What the process to which connections are passed says of them.
private struct PassingReport {
  /// How many it has taken.
  let taken: UInt64
  /// Whether none of them is in use.
  let areUnused: Bool

  /// False where there is no room for it now.
  func send(to socket: BusDescriptor) -> Bool {
    var words = [taken, areUnused ? 1 : 0]
    // send: reads as many bytes as it is told
    return Glibc.send(socket.rawValue, &words, 16, Int32(MSG_DONTWAIT | MSG_NOSIGNAL)) >= 0 || errno != EAGAIN
  }

  enum Next {
    case report(PassingReport)
    /// There is no more at this moment.
    case none
    /// There will be no more.
    case ended
  }

  /// The next one that has arrived.
  static func next(at socket: BusDescriptor) -> Next {
    var words: [UInt64] = [0, 0]
    // The kernel reports once that the other side has ended with messages unread, and then passes on what it has sent.
    for _ in 0..<2 {
      // recv: writes at most as many bytes as it is told
      let count = recv(socket.rawValue, &words, 16, Int32(MSG_DONTWAIT))
      if count == 16 { return .report(PassingReport(taken: words[0], areUnused: words[1] == 1)) }
      if count < 0, errno == EAGAIN { return .none }
      guard count < 0, errno == ECONNRESET else { return .ended }
    }
    return .ended
  }
}

/// This process's end of a pair over which it passes connections to another process, unread. It keeps each one until the
/// other process has taken it.
package actor SocketPassing: BusLoopSource {
  package nonisolated var unownedExecutor: UnownedSerialExecutor { BusLoop.shared.asUnownedSerialExecutor() }

  private let socket: BusDescriptor
  private let unused: @Sendable () -> Void
  private var passed: UInt64 = 0
  /// The last connections that were passed, which the other process has not taken yet.
  private var kept: [Int32] = []

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

  deinit { for connection in kept { close(connection) } }

  /// Stops listening to the process. It sees the end when this object is freed, and connections that it has not taken are
  /// closed then. Call it on the loop.
  package nonisolated func end() { BusLoop.shared.remove(self) }

  /// The connections that the process has not taken, once it has ended. They are the caller's. Call it on the loop.
  package nonisolated func takeBack() -> [Int32] {
    assumeIsolated { passing in
      passing.takeReports()
      defer { passing.kept = [] }
      return passing.kept
    }
  }

  /// Passes a connected socket, which is this object's from then on. Call it on the loop.
  ///
  /// - Throws: `disconnected` where the process has ended, `system(EAGAIN)` where it takes no more at this moment. The
  ///   socket is still the caller's then.
  package nonisolated func pass(_ connection: Int32) throws(BusError) {
    switch whorl_send_descriptor(socket.rawValue, connection) {
    case 0:
      assumeIsolated { passing in
        passing.passed += 1
        passing.kept.append(connection)
      }
    case EPIPE, ECONNRESET: throw .disconnected
    case let code: throw .system(code)
    }
  }

  package nonisolated func pollRequest() -> BusPollRequest? {
    BusPollRequest(descriptor: socket.rawValue, events: Int16(POLLIN), isAwaited: false)
  }

  package nonisolated func dispatch() {
    assumeIsolated { $0.takeReports() }
  }

  private func takeReports() {
    while true {
      switch PassingReport.next(at: socket) {
      case .none: return
      // The end of the process is seen by its pidfd.
      case .ended: return end()
      case .report(let report):
        let first = passed - UInt64(kept.count)
        // Numbers that fit to nothing that was passed are ignored.
        guard (first...passed).contains(report.taken) else { continue }
        for connection in kept.prefix(Int(report.taken - first)) { close(connection) }
        kept.removeFirst(Int(report.taken - first))
        if report.areUnused, report.taken == passed { unused() }
      }
    }
  }
}
