package import Fingerprint

/// Presses fingers on libfprint's virtual image reader.
///
/// The reader exists in the process that libfprint runs in; it makes its socket when it is opened and stops listening
/// when it is closed. A press waits for a scan to be armed, and is then that scan's. While an enrolment looks for the
/// minutiae of one image, an image more is read and dropped without a word: press for each stage when it is asked for.
///
/// Every call blocks its thread until the reader has taken what was sent. Where that hangs on a task of the same
/// process, make it with ``onOwnThread(_:)``.
package struct VirtualImageReader: Sendable {
  /// The path libfprint was given.
  package let socket: String
  /// How long to wait for the reader to be opened and a scan to be armed.
  package let patience: Duration

  package init(socket: String, patience: Duration = .seconds(5)) {
    self.socket = socket
    self.patience = patience
  }

  /// Waits until a program has the reader open. A press that waits for a scan meanwhile is made again.
  package func waitUntilOpen() throws(VirtualReaderError) {
    try send([])
  }

  /// Puts a finger on the sensor, lets it be read, and lifts it.
  package func press(_ image: GrayImage) throws(VirtualReaderError) {
    try send([.image(image)])
  }

  /// Ends the running scan as one that told nothing.
  package func retry(_ reason: RetryReason) throws(VirtualReaderError) {
    try send([.retry(reason)])
  }

  /// Ends the running scan with an error of the device.
  package func deviceError(_ code: DeviceErrorCode) throws(VirtualReaderError) {
    try send([.deviceError(code)])
  }

  /// Puts a finger on the sensor, or lifts it, without an image.
  package func finger(present: Bool) throws(VirtualReaderError) {
    try send([.finger(present: present)])
  }

  /// Puts a finger on the sensor, lets it be read, and leaves it there. libfprint finishes a scan only when it has left.
  package func hold(_ image: GrayImage) throws(VirtualReaderError) -> HeldFinger {
    let deadline = ContinuousClock.now + patience
    let connection = try ReaderConnection(to: socket, deadline: deadline)
    let commands: [Command] = [.automaticFinger(false), .finger(present: true), .image(image)]
    try connection.send(commands.flatMap(\.bytes))
    return HeldFinger(connection: connection)
  }

  /// Sends commands over one connection, and returns when the reader has taken them all.
  package func send(_ commands: [Command]) throws(VirtualReaderError) {
    _ = try ReaderConnection.deliver(commands.flatMap(\.bytes), to: socket, patience: patience)
  }

  /// What the reader understands.
  package enum Command: Sendable, Hashable {
    /// An image; with the finger put down before and lifted after it, unless that has been switched off.
    case image(GrayImage)
    case retry(RetryReason)
    case deviceError(DeviceErrorCode)
    /// Whether an image puts the finger down and lifts it. On again with each new connection.
    case automaticFinger(Bool)
    case finger(present: Bool)

    /// Native-endian 32-bit integers: width, height and pixels, or a negative command and its argument.
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

/// A finger that lies on the sensor, and is lifted with ``lift()``. The next press takes its connection, and leaves it
/// lying there.
package struct HeldFinger: ~Copyable {
  private let connection: ReaderConnection

  fileprivate init(connection: consuming ReaderConnection) {
    self.connection = connection
  }

  /// Lifts the finger, and returns when the reader has noticed.
  package consuming func lift() throws(VirtualReaderError) {
    try connection.send(VirtualImageReader.Command.finger(present: false).bytes)
    _ = try connection.finish()
  }
}
