internal import Glibc

/// The one connection a virtual reader talks over at a time.
///
/// A new connection takes the place of the one before, whose unread rest is lost to its sender as a reset; it is then
/// sent again. Nothing is ever sent back that would say whether a command did anything. But what has been read is no
/// longer in the kernel's queue, and the image reader reads a new connection only while a scan is armed: what it has
/// read, it has handled.
struct ReaderConnection: ~Copyable {
  private let descriptor: Int32
  private let socket: String
  private let deadline: ContinuousClock.Instant

  /// Connects, sends all of it and waits until the reader has taken it; as often as needed until the deadline.
  ///
  /// What the reader has not taken by then is withdrawn, lest it be taken by a scan that comes later.
  ///
  /// - Returns: What the reader sent back.
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

  /// Waits for the reader to listen, and connects.
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

  /// Zero, or the errno of the attempt.
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

  /// Says that nothing more comes, and waits until the reader has taken what came; or until it has answered.
  ///
  /// A reader that is busy matching takes note of the end of a connection only afterwards: that is not waited for.
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
        // Asked before the last look: a reset comes before the queue is emptied.
        if isTaken { return answer }
        try wait(for: Int16(POLLIN), atMost: 2)
        isTaken = !expectsAnswer && unreadBytes == 0
      case ECONNRESET: throw .replaced(socket: socket)
      default: throw .system(call: "recv", errno: errno)
      }
    }
  }

  /// What the reader has not read yet; 0 also when it has closed.
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

/// Blocks this thread; the driver is for tests and small programs.
func pause(milliseconds: Int) {
  usleep(UInt32(milliseconds) * 1000)
}
