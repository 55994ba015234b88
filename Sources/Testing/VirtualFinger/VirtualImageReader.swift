// VirtualFinger: fingers for machines without a reader. Begin with `VirtualImageReader` and `VirtualStorageReader`, which
// drive libfprint's own virtual readers; `SyntheticFinger.swift` makes the fingers, `RidgePattern.swift` their ridges.

internal import Dispatch
internal import Glibc
package import Primitives

/// Presses fingers on libfprint's virtual image reader.
///
/// The reader lives in the process that uses libfprint. It makes its socket when it is opened and stops listening when
/// it is closed. A press waits until a scan is armed, and goes to that scan. While an enrolment extracts the minutiae
/// of one image, the reader silently drops further images, so press once each time a stage is asked for.
///
/// Every call blocks its thread until the reader has read what was sent. If a task of the same process has to arm the
/// scan, make the call with ``onOwnThread(_:)``.
package struct VirtualImageReader: Sendable {
  /// The socket path that libfprint was given.
  package let socket: String
  /// How long to wait for the reader to be opened and for a scan to be armed.
  package let patience: Duration

  package init(socket: String, patience: Duration = .seconds(5)) {
    self.socket = socket
    self.patience = patience
  }

  /// Waits until a program has opened the reader. A press that is waiting for a scan at this time is sent again.
  package func waitUntilOpen() throws(VirtualReaderError) {
    try send([])
  }

  /// Puts a finger on the sensor, lets the reader scan it, and lifts it.
  package func press(_ image: GrayImage) throws(VirtualReaderError) {
    try send([.image(image)])
  }

  /// Ends the running scan with a retry error.
  package func retry(_ reason: RetryReason) throws(VirtualReaderError) {
    try send([.retry(reason)])
  }

  /// Ends the running scan with a device error.
  package func deviceError(_ code: DeviceErrorCode) throws(VirtualReaderError) {
    try send([.deviceError(code)])
  }

  /// Puts a finger on the sensor, or lifts it, without an image.
  package func finger(present: Bool) throws(VirtualReaderError) {
    try send([.finger(present: present)])
  }

  /// Puts a finger on the sensor, lets the reader scan it, and leaves it there. libfprint finishes a scan only when the
  /// finger is lifted.
  package func hold(_ image: GrayImage) throws(VirtualReaderError) -> HeldFinger {
    let deadline = ContinuousClock.now + patience
    let connection = try ReaderConnection(to: socket, deadline: deadline)
    let commands: [Command] = [.automaticFinger(false), .finger(present: true), .image(image)]
    try connection.send(commands.flatMap(\.bytes))
    return HeldFinger(connection: connection)
  }

  /// Sends commands over one connection, and returns when the reader has read them all.
  package func send(_ commands: [Command]) throws(VirtualReaderError) {
    _ = try ReaderConnection.deliver(commands.flatMap(\.bytes), to: socket, patience: patience)
  }

  /// A command of the virtual reader.
  package enum Command: Sendable, Hashable {
    /// An image. Unless ``automaticFinger(_:)`` is off, the finger is put down before it and lifted after it.
    case image(GrayImage)
    case retry(RetryReason)
    case deviceError(DeviceErrorCode)
    /// Whether an image also puts the finger down and lifts it. Each new connection starts with true.
    case automaticFinger(Bool)
    case finger(present: Bool)

    /// The command as native-endian 32-bit integers: width and height followed by the pixels, or a negative command
    /// code and its argument.
    var bytes: [UInt8] {
      switch self {
      case .image(let image):
        let padded = image.paddedToFour()
        return Self.header(Int32(padded.width), Int32(padded.height)) + padded.pixels
      case .retry(let reason): return Self.header(-1, reason.deviceCode)
      case .deviceError(let code): return Self.header(-2, code.rawValue)
      case .automaticFinger(let isOn): return Self.header(-3, isOn ? 1 : 0)
      case .finger(let isPresent): return Self.header(-4, isPresent ? 1 : 0)
      }
    }

    private static func header(_ first: Int32, _ second: Int32) -> [UInt8] {
      withUnsafeBytes(of: first, Array.init) + withUnsafeBytes(of: second, Array.init)
    }
  }
}

/// A finger that rests on the sensor until ``lift()``. Another press replaces its connection; the finger then stays on
/// the sensor.
package struct HeldFinger: ~Copyable {
  private let connection: ReaderConnection

  fileprivate init(connection: consuming ReaderConnection) {
    self.connection = connection
  }

  /// Lifts the finger, and returns when the reader has read the command.
  package consuming func lift() throws(VirtualReaderError) {
    try connection.send(VirtualImageReader.Command.finger(present: false).bytes)
    _ = try connection.finish()
  }
}

/// Drives libfprint's virtual match-on-chip reader, where a finger is a word and the chip holds a list of words.
///
/// The reader queues commands until one of its actions reads them, so a scan may be sent before it is armed: the next
/// action gets it. Only ``list()`` is answered at once.
package struct VirtualStorageReader: Sendable {
  /// The socket path that libfprint was given.
  package let socket: String
  /// How long to wait for the reader to be opened and to read what was sent.
  package let patience: Duration

  package init(socket: String, patience: Duration = .seconds(5)) {
    self.socket = socket
    self.patience = patience
  }

  /// Presents the finger with this name.
  package func scan(_ id: String) throws(VirtualReaderError) { try send("SCAN \(id)") }

  /// Stores a print on the chip, as another system would.
  package func insert(_ id: String) throws(VirtualReaderError) { try send("INSERT \(id)") }

  /// Deletes a print from the chip.
  package func remove(_ id: String) throws(VirtualReaderError) { try send("REMOVE \(id)") }

  /// The names on the chip after the last action.
  package func list() throws(VirtualReaderError) -> [String] {
    let answer = try ReaderConnection.deliver(
      Array("LIST".utf8), to: socket, patience: patience, expectsAnswer: true)
    return answer.split(separator: UInt8(ascii: "\n")).map { String(decoding: $0, as: UTF8.self) }
  }

  /// Ends the next action with a device error.
  package func error(_ code: DeviceErrorCode) throws(VirtualReaderError) { try send("ERROR \(code.rawValue)") }

  /// Ends the next scan with a retry error.
  package func retry(_ reason: RetryReason) throws(VirtualReaderError) { try send("RETRY \(reason.deviceCode)") }

  /// Puts a finger on the sensor, or lifts it, without a scan.
  package func finger(present: Bool) throws(VirtualReaderError) { try send("FINGER \(present ? 1 : 0)") }

  /// Unplugs the reader.
  package func unplug() throws(VirtualReaderError) { try send("UNPLUG") }

  /// Makes the reader wait before it handles the next command.
  package func sleep(milliseconds: Int) throws(VirtualReaderError) { try send("SLEEP \(milliseconds)") }

  /// Sets how many touches an enrolment takes.
  package func setEnrollStages(_ count: Int) throws(VirtualReaderError) { try send("SET_ENROLL_STAGES \(count)") }

  /// Continues an action that waits for a command. Clearing the chip fails if none comes within half a second.
  package func proceed() throws(VirtualReaderError) { try send("CONT ") }

  /// Whether scans can be cancelled. Switch this off to simulate a driver that hangs.
  package func setCancellable(_ isCancellable: Bool) throws(VirtualReaderError) {
    try send("SET_CANCELLATION_ENABLED \(isCancellable ? 1 : 0)")
  }

  private func send(_ command: String) throws(VirtualReaderError) {
    _ = try ReaderConnection.deliver(Array(command.utf8), to: socket, patience: patience)
  }
}

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
        // Swift 6.2 crashes at `try?` before a noncopyable value.
        do { _ = try ReaderConnection(to: socket, deadline: .now) } catch {}
        throw .notTaken(socket: socket)
      }
    }
  }

  init(to socket: String, deadline: ContinuousClock.Instant) throws(VirtualReaderError) {
    descriptor = try Self.connected(to: socket, deadline: deadline)
    self.socket = socket
    self.deadline = deadline
  }

  deinit {
    close(descriptor)
  }

  /// Waits until the reader listens, and connects. It is not in the initializer, where Swift 6.2 crashes at errors that are
  /// thrown after some fields of a noncopyable value are set.
  private static func connected(
    to socket: String, deadline: ContinuousClock.Instant
  ) throws(VirtualReaderError) -> Int32 {
    while true {
      let descriptor = Glibc.socket(
        AF_UNIX, Int32(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue | SOCK_NONBLOCK.rawValue), 0)
      guard descriptor >= 0 else { throw .system(call: "socket", errno: errno) }
      let failure = try connect(descriptor, to: socket)
      if failure == 0 { return descriptor }
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

/// libfprint's `FpDeviceError`.
package struct DeviceErrorCode: RawRepresentable, Sendable, Hashable {
  package let rawValue: Int32

  package init(rawValue: Int32) {
    self.rawValue = rawValue
  }

  package static let general = DeviceErrorCode(rawValue: 0)
  package static let notSupported = DeviceErrorCode(rawValue: 1)
  package static let busy = DeviceErrorCode(rawValue: 4)
  package static let protocolError = DeviceErrorCode(rawValue: 5)
  package static let dataInvalid = DeviceErrorCode(rawValue: 6)
  package static let dataNotFound = DeviceErrorCode(rawValue: 7)
  package static let dataFull = DeviceErrorCode(rawValue: 8)
  package static let dataDuplicate = DeviceErrorCode(rawValue: 9)
  package static let removed = DeviceErrorCode(rawValue: 0x100)
  package static let tooHot = DeviceErrorCode(rawValue: 0x101)
}

extension RetryReason {
  /// The code of this reason in libfprint's `FpDeviceRetry`.
  var deviceCode: Int32 {
    switch self {
    case .general: 0
    case .tooShort: 1
    case .centerFinger: 2
    case .removeFinger: 3
    case .tooFast: 4
    }
  }
}

/// Why a command could not be delivered to a virtual reader.
package enum VirtualReaderError: Error, Sendable, Hashable, CustomStringConvertible {
  /// Nothing listened at the socket until the time ran out. libfprint listens only while the reader is open.
  case noReader(socket: String)
  /// Other programs connected to the reader repeatedly and replaced this connection each time.
  case replaced(socket: String)
  /// The reader is open but read nothing until the time ran out, because no scan was armed. The command was withdrawn.
  case notTaken(socket: String)
  /// The path is too long for a socket address.
  case pathTooLong(socket: String)
  /// Any other failure of a system call.
  case system(call: String, errno: Int32)

  package var description: String {
    switch self {
    case .noReader(let socket): "no reader listens at \(socket): it does so only while a program has it open"
    case .replaced(let socket): "other programs press on the reader at \(socket) too"
    case .notTaken(let socket): "the reader at \(socket) waits for no finger"
    case .pathTooLong(let socket): "the path of the socket is too long: \(socket)"
    case .system(let call, let errno): "\(call) failed with errno \(errno)"
    }
  }
}

/// Runs a blocking call on its own thread.
///
/// The thread pool of Swift's tasks is small. If presses blocked all of its threads, no task could arm the scan that
/// they wait for.
package func onOwnThread<Value: Sendable>(
  _ body: @escaping @Sendable () throws(VirtualReaderError) -> Value
) async throws(VirtualReaderError) -> Value {
  let result: Result<Value, VirtualReaderError> = await withCheckedContinuation { continuation in
    DispatchQueue.global().async {
      do throws(VirtualReaderError) {
        continuation.resume(returning: .success(try body()))
      } catch {
        continuation.resume(returning: .failure(error))
      }
    }
  }
  return try result.get()
}
