internal import CSystemd
internal import Glibc

/// The sizes of the outgoing messages that wait for the peer to read them, oldest first. sd-bus holds the messages and
/// reports only their number.
struct UnreadMessages {
  private var sizes: [Int] = []
  /// The memory that the messages take, in bytes, roughly.
  private(set) var bytes = 0

  var count: Int { sizes.count }

  /// Whether the peer has left more unread than it may.
  func exceed(_ limits: BusLimits) -> Bool { count > limits.unreadMessages || bytes > limits.unreadBytes }

  /// Whether the peer must read before its next call is read.
  func exceedPause(of limits: BusLimits) -> Bool {
    count > limits.unreadMessagesBeforePause || bytes > limits.unreadBytesBeforePause
  }

  /// Updates to the number of messages that sd-bus has. Drops those that were sent. Counts those that sd-bus has added
  /// itself, such as answers to `Ping`, with the smallest size of a message.
  mutating func update(of bus: OpaquePointer) {
    let count = Self.queued(on: bus)
    if count < sizes.count {
      let sent = sizes.count - count
      bytes -= sizes[..<sent].reduce(0, +)
      sizes.removeFirst(sent)
    }
    while sizes.count < count { append(Self.overhead) }
  }

  /// Adds the message that was just sent, unless sd-bus could write it at once.
  ///
  /// - Parameter size: the cost of its arguments (`BusValue.cost`).
  mutating func add(size: Int, on bus: OpaquePointer) {
    if Self.queued(on: bus) > count { append(size + Self.overhead) }
  }

  /// Whether the peer has not read all that was sent to it.
  static func remain(on bus: OpaquePointer) -> Bool {
    var bytes: Int32 = 0
    // The kernel writes the size of what waits in the socket.
    return queued(on: bus) > 0 || ioctl(sd_bus_get_fd(bus), UInt(TIOCOUTQ), &bytes) != 0 || bytes > 0
  }

  /// The number of outgoing messages that sd-bus could not write yet.
  private static func queued(on bus: OpaquePointer) -> Int {
    var count: UInt64 = 0
    return sd_bus_get_n_queued_write(bus, &count) >= 0 ? Int(clamping: count) : 0
  }

  private mutating func append(_ size: Int) {
    sizes.append(size)
    bytes += size
  }

  /// The memory that sd-bus allocates for a message without arguments: the struct and the header fields.
  private static let overhead = 1_024
}
