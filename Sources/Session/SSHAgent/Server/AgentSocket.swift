internal import Glibc
internal import KeySchemes
internal import Primitives
internal import SDBus
internal import SecureMemory

/// A connection of the agent protocol, closed with the last reference to it. Each message is preceded by its length.
final class AgentSocket: Sendable {
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

  /// Whether a message or the end of the connection arrives within the time. Blocks.
  func hasInput(within time: Duration) -> Bool {
    let end = LoopClock.now + time.microseconds
    while true {
      var waiting = pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0)
      let left = end > LoopClock.now ? end - LoopClock.now : 0
      // Rounded up, so that the last millisecond is not spent on repeated polls with a timeout of 0.
      let result = poll(&waiting, 1, Int32(clamping: (left + 999) / 1_000))
      guard result < 0, errno == EINTR else { return result != 0 }
    }
  }

  /// The next message; nil if the connection ends, or a message is empty or too long. The message may hold a private
  /// key for the other agent. Blocks.
  func read() -> SharedSecret? {
    guard let header = read(count: 4) else { return nil }
    let length = header.bytes.withUnsafeBytes { OutsideNumber(bigEndian: $0) }
    guard let count = length.number(in: 1...AgentMessage.limit) else { return nil }
    return read(count: count)
  }

  private func read(count: Int) -> SharedSecret? {
    guard let bytes = try? SharedSecret(SecretBytes.read(from: descriptor, upTo: count)), bytes.bytes.count == count
    else { return nil }
    return bytes
  }

  /// False if the connection has ended. Blocks.
  func write(_ message: [UInt8]) -> Bool { message.withUnsafeBytes { sendWhole($0) } }

  private func sendWhole(_ message: UnsafeRawBufferPointer) -> Bool {
    var header = SSHWriter()
    header.append(number: UInt32(clamping: message.count))
    return header.bytes.withUnsafeBytes { sendAll($0) } && sendAll(message)
  }

  private func sendAll(_ bytes: UnsafeRawBufferPointer) -> Bool {
    var sent = 0
    while sent < bytes.count {
      let rest = UnsafeRawBufferPointer(rebasing: bytes[sent...])
      // Borrows the bytes for the call.
      let count = Glibc.send(descriptor, rest.baseAddress, rest.count, Int32(MSG_NOSIGNAL))
      if count < 0, errno == EINTR { continue }
      guard count > 0 else { return false }
      sent += count
    }
    return true
  }

  /// Ends the connection: an exchange that waits for the answer returns nil.
  func end() { shutdown(descriptor, Int32(SHUT_RDWR)) }

  /// Sends a message, and waits for its answer.
  func exchange(_ message: SharedSecret) -> [UInt8]? {
    guard message.bytes.withUnsafeBytes({ sendWhole($0) }) else { return nil }
    return read()?.bytes.withUnsafeBytes { Array($0) }
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
