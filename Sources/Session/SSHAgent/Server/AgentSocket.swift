internal import Glibc
internal import Primitives
internal import SDBus

/// A connection of the agent protocol, closed with the last reference to it. Each message is preceded by its length.
final class AgentSocket: Sendable {
  /// How long a message may take from its first byte to its last.
  private static let messageTime = Duration.seconds(10)

  let descriptor: Int32

  /// Takes ownership of a connected socket.
  init(taking descriptor: Int32) { self.descriptor = descriptor }

  deinit { close(descriptor) }

  /// Connects to an agent. Nil if none listens at the path, or it does not accept within the time.
  convenience init?(connectingTo path: String, within limit: Duration) {
    let descriptor = socket(AF_UNIX, Int32(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue), 0)
    guard descriptor >= 0 else { return nil }
    self.init(taking: descriptor)
    guard var address = UnixAddress(path) else { return nil }
    // It also limits connect(2), which waits while the backlog is full.
    var time = timeval(tv_sec: Int(clamping: limit.components.seconds), tv_usec: 0)
    guard setsockopt(descriptor, SOL_SOCKET, SO_SNDTIMEO, &time, socklen_t(MemoryLayout<timeval>.size)) == 0 else {
      return nil
    }
    guard address.with({ connect(descriptor, $0, $1) }) == 0 else { return nil }
  }

  /// Waits, without a thread, until something arrives at the socket, or it can take more, or its connection has ended.
  ///
  /// - Parameters:
  ///   - events: of poll(2).
  ///   - deadline: in microseconds of ``LoopClock``; nil: waits without a limit.
  /// - Returns: false after the deadline.
  private func isReady(for events: Int16, by deadline: UInt64?) async -> Bool {
    await withCheckedContinuation { Readiness.await(self, events, deadline ?? .max, $0) }
  }

  /// The next message; nil if the connection ends, if a message is empty or too long, or if its end does not follow its
  /// beginning in time. The message may hold a private key for the other agent.
  func read() async -> SharedSecret? {
    guard await isReady(for: Int16(clamping: POLLIN), by: nil) else { return nil }
    let deadline = LoopClock.now + Self.messageTime.microseconds
    guard let header = await read(count: 4, by: deadline) else { return nil }
    let length = header.bytes.withUnsafeBytes { OutsideNumber(bigEndian: $0) }
    guard let count = length.number(in: 1...AgentMessage.limit) else { return nil }
    return await read(count: count, by: deadline)
  }

  private func read(count: Int, by deadline: UInt64) async -> SharedSecret? {
    var bytes = SecretBytes(count: 0)
    while bytes.count < count {
      let filled = bytes.count
      // Takes memory only for what has arrived, roughly.
      bytes.resize(to: min(count, filled + max(filled, 1_024)))
      let received = bytes.withUnsafeMutableBytes { all in
        let room = UnsafeMutableRawBufferPointer(rebasing: all[filled...])
        // Writes at most as many bytes as it is told.
        return recv(descriptor, room.baseAddress, room.count, Int32(MSG_DONTWAIT))
      }
      let problem = errno
      bytes.resize(to: filled + max(received, 0))
      if received > 0 || received < 0 && problem == EINTR { continue }
      guard received < 0, problem == EAGAIN, await isReady(for: Int16(clamping: POLLIN), by: deadline) else {
        return nil
      }
    }
    return SharedSecret(bytes)
  }

  /// False if the connection has ended, or its other end does not read the message in time.
  func write(_ message: [UInt8]) async -> Bool {
    var header = SSHWriter()
    header.append(number: UInt32(clamping: message.count))
    return await sendAll(header.bytes.count + message.count) { start in
      let unsent = start < header.bytes.count ? header.bytes[start...] : message[(start - header.bytes.count)...]
      return unsent.withUnsafeBytes { Self.send($0, to: self.descriptor) }
    }
  }

  /// The same for a message that may hold a private key.
  private func write(_ message: SharedSecret) async -> Bool {
    var header = SSHWriter()
    header.append(number: UInt32(clamping: message.bytes.count))
    return await sendAll(header.bytes.count + message.bytes.count) { start in
      guard start >= header.bytes.count else {
        return header.bytes[start...].withUnsafeBytes { Self.send($0, to: self.descriptor) }
      }
      return message.bytes.withUnsafeBytes { bytes in
        Self.send(UnsafeRawBufferPointer(rebasing: bytes[(start - header.bytes.count)...]), to: self.descriptor)
      }
    }
  }

  private static func send(_ bytes: UnsafeRawBufferPointer, to descriptor: Int32) -> Int {
    // Borrows the bytes for the call.
    Glibc.send(descriptor, bytes.baseAddress, bytes.count, Int32(MSG_NOSIGNAL) | Int32(MSG_DONTWAIT))
  }

  /// - Parameter send: sends from the byte with this number on, and returns what send(2) does.
  private func sendAll(_ count: Int, _ send: (Int) -> Int) async -> Bool {
    let deadline = LoopClock.now + Self.messageTime.microseconds
    var sent = 0
    while sent < count {
      let more = send(sent)
      if more < 0, errno == EINTR { continue }
      if more < 0, errno == EAGAIN {
        guard await isReady(for: Int16(clamping: POLLOUT), by: deadline) else { return false }
        continue
      }
      guard more > 0 else { return false }
      sent += more
    }
    return true
  }

  /// Ends the connection: an exchange that waits for the answer returns nil.
  func end() { shutdown(descriptor, Int32(SHUT_RDWR)) }

  /// Sends a message, and waits for its answer.
  func exchange(_ message: SharedSecret) async -> [UInt8]? {
    guard await write(message) else { return nil }
    return await read()?.bytes.withUnsafeBytes { Array($0) }
  }
}

/// The address of a Unix socket.
struct UnixAddress {
  private var address = sockaddr_un()

  /// Nil for a path that is too long.
  init?(_ path: String) {
    address.sun_family = sa_family_t(AF_UNIX)
    let bytes = Array(path.utf8)
    guard !bytes.isEmpty, bytes.count < MemoryLayout.size(ofValue: address.sun_path) else { return nil }
    withUnsafeMutableBytes(of: &address.sun_path) { $0.copyBytes(from: bytes) }
  }

  /// Lends the address for a call.
  mutating func with<Value>(_ body: (UnsafePointer<sockaddr>, socklen_t) -> Value) -> Value {
    withUnsafePointer(to: &address) {
      $0.withMemoryRebound(to: sockaddr.self, capacity: 1) { body($0, socklen_t(MemoryLayout<sockaddr_un>.size)) }
    }
  }
}

/// Resumes a task when a socket is ready, or at a deadline.
private final class Readiness: BusLoopSource {
  private let socket: AgentSocket
  private let events: Int16
  private let deadline: UInt64
  private let answer: CheckedContinuation<Bool, Never>

  private init(_ socket: AgentSocket, _ events: Int16, _ deadline: UInt64, _ answer: CheckedContinuation<Bool, Never>) {
    (self.socket, self.events, self.deadline, self.answer) = (socket, events, deadline, answer)
  }

  static func await(
    _ socket: AgentSocket, _ events: Int16, _ deadline: UInt64, _ answer: CheckedContinuation<Bool, Never>
  ) {
    let readiness = Readiness(socket, events, deadline, answer)
    BusLoop.shared.post { BusLoop.shared.add(readiness) }
  }

  func pollRequest() -> BusPollRequest? {
    BusPollRequest(descriptor: socket.descriptor, events: events, deadline: deadline)
  }

  func dispatch() {
    BusLoop.shared.remove(self)
    var polled = pollfd(fd: socket.descriptor, events: events, revents: 0)
    answer.resume(returning: poll(&polled, 1, 0) > 0)
  }
}

/// Calls a closure on the bus loop when the peer closes the connection, unless the watch is ended before.
final class HangupWatch: BusLoopSource {
  /// `POLLRDHUP`, which Glibc does not export to Swift.
  private static let hangup: Int16 = 0x2000

  private let socket: AgentSocket
  private let body: @Sendable () -> Void

  init(_ socket: AgentSocket, _ body: @escaping @Sendable () -> Void) {
    (self.socket, self.body) = (socket, body)
    BusLoop.shared.post { BusLoop.shared.add(self) }
  }

  func end() { BusLoop.shared.post { BusLoop.shared.remove(self) } }

  func pollRequest() -> BusPollRequest? { BusPollRequest(descriptor: socket.descriptor, events: Self.hangup) }

  func dispatch() {
    BusLoop.shared.remove(self)
    body()
  }
}
