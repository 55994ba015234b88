internal import Glibc

/// A connection to a virtual reader, which serves only one connection at a time.
///
/// The reader drops its connection when a new one arrives. Data it had not read then causes a reset at the sender,
/// which sends it again. The reader does not acknowledge commands, so this code watches the kernel's send queue
/// instead: the image reader reads a new connection only while a scan is armed, and it has processed everything it has
/// read.
struct ReaderConnection: ~Copyable {
  private let descriptor: Int32
  private let socket: String
  private let deadline: ContinuousClock.Instant

  /// Connects, sends all bytes and waits until the reader has read them. Repeats this until the deadline if another
  /// connection replaces this one.
  ///
  /// What the reader has not read by the deadline is withdrawn, so that no later scan gets it.
  ///
  /// - Returns: The reader's answer.
  static func deliver(
    _ bytes: [UInt8], to socket: String, patience: Duration, expectsAnswer: Bool = false
  ) throws(VirtualReaderError) -> [UInt8] {
    let deadline = ContinuousClock.now + patience
    while true {
      let connection = try ReaderConnection(to: socket, deadline: deadline)
      do throws(VirtualReaderError) {
        try connection.send(bytes)
        return try connection.finish(expectsAnswer: expectsAnswer)
      } catch .replaced where ContinuousClock.now < deadline {
        pause(milliseconds: .random(in: 5...25))
      } catch .notTaken {
        _ = try? ReaderConnection(to: socket, deadline: .now)
        throw .notTaken(socket: socket)
      }
    }
  }

  /// Waits until the reader listens, and connects.
  init(to socket: String, deadline: ContinuousClock.Instant) throws(VirtualReaderError) {
    self.socket = socket
    self.deadline = deadline
    while true {
      let descriptor = Glibc.socket(
        AF_UNIX, Int32(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue | SOCK_NONBLOCK.rawValue), 0)
      guard descriptor >= 0 else { throw .system(call: "socket", errno: errno) }
      let failure = try Self.connect(descriptor, to: socket)
      if failure == 0 {
        self.descriptor = descriptor
        return
      }
      close(descriptor)
      switch failure {
      case ENOENT, ECONNREFUSED, EAGAIN, EINTR:
        guard ContinuousClock.now < deadline else { throw .noReader(socket: socket) }
        pause(milliseconds: 5)
      default:
        throw .system(call: "connect", errno: failure)
      }
    }
  }

  deinit {
    close(descriptor)
  }

  /// Returns 0, or the errno of the attempt.
  private static func connect(_ descriptor: Int32, to socket: String) throws(VirtualReaderError) -> Int32 {
    var address = sockaddr_un()
    address.sun_family = sa_family_t(AF_UNIX)
    let path = Array(socket.utf8)
    let room = MemoryLayout.size(ofValue: address.sun_path)
    guard path.count < room else { throw .pathTooLong(socket: socket) }
    withUnsafeMutableBytes(of: &address.sun_path) { $0.copyBytes(from: path) }
    // connect: reads the address during the call only.
    let result = withUnsafePointer(to: &address) {
      $0.withMemoryRebound(to: sockaddr.self, capacity: 1) {
        Glibc.connect(descriptor, $0, socklen_t(MemoryLayout<sockaddr_un>.size))
      }
    }
    return result == 0 ? 0 : errno
  }

  func send(_ bytes: [UInt8]) throws(VirtualReaderError) {
    var sent = 0
    while sent < bytes.count {
      // send: reads from the buffer during the call only.
      let count = bytes.withUnsafeBytes {
        Glibc.send(descriptor, $0.baseAddress.map { $0 + sent }, $0.count - sent, Int32(MSG_NOSIGNAL))
      }
      if count >= 0 {
        sent += count
        continue
      }
      switch errno {
      case EINTR: continue
      case EAGAIN: try wait(for: Int16(POLLOUT))
      case EPIPE, ECONNRESET: throw .replaced(socket: socket)
      default: throw .system(call: "send", errno: errno)
      }
    }
  }

  /// Closes the sending side, and waits until the reader has read everything or, if an answer is expected, has sent it.
  ///
  /// This does not wait for the reader to close the connection: it does that only when it has finished matching.
  func finish(expectsAnswer: Bool = false) throws(VirtualReaderError) -> [UInt8] {
    shutdown(descriptor, Int32(SHUT_WR))
    var answer: [UInt8] = []
    var buffer = [UInt8](repeating: 0, count: 4096)
    var isTaken = false
    while true {
      // recv: writes into the buffer during the call only.
      let count = recv(descriptor, &buffer, buffer.count, 0)
      if count == 0 { return answer }
      if count > 0 {
        answer += buffer[..<count]
        continue
      }
      switch errno {
      case EINTR: continue
      case EAGAIN:
        // Call `recv` once more after the queue is empty: a reset that emptied it would be reported there.
        if isTaken { return answer }
        try wait(for: Int16(POLLIN), atMost: 2)
        isTaken = !expectsAnswer && unreadBytes == 0
      case ECONNRESET: throw .replaced(socket: socket)
      default: throw .system(call: "recv", errno: errno)
      }
    }
  }

  /// The number of bytes the reader has not read yet. Also 0 if the connection is closed.
  private var unreadBytes: Int32 {
    var count: Int32 = 0
    // ioctl: writes the number during the call only.
    return ioctl(descriptor, UInt(TIOCOUTQ), &count) == 0 ? count : 0
  }

  private func wait(for event: Int16, atMost limit: Int64 = .max) throws(VirtualReaderError) {
    let left = deadline - ContinuousClock.now
    guard left > .zero else { throw .notTaken(socket: socket) }
    var request = pollfd(fd: descriptor, events: event, revents: 0)
    let milliseconds = left.components.seconds * 1000 + left.components.attoseconds / 1_000_000_000_000_000 + 1
    poll(&request, 1, Int32(clamping: min(milliseconds, limit)))
  }
}

/// Blocks this thread, which is acceptable because only tests and small programs use this module.
func pause(milliseconds: Int) {
  usleep(UInt32(milliseconds) * 1000)
}
