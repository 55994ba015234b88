package import Fingerprint

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
