// The opening of a connection, and the answers that its peer has not read yet.

internal import CSystemd
internal import Glibc

/// Makes the `sd_bus` of a ``BusConnection`` and starts its handshake. The caller gets the only reference.
enum BusOpening {
  /// Over a connected socket. Takes ownership of the socket, also if this throws.
  static func peer(socket: Int32, role: BusRole) throws(BusError) -> OpaquePointer {
    try open(socket: socket) { (bus) throws(BusError) in
      guard role == .server else { return }
      var identifier = sd_id128_t()
      try checked(sd_id128_randomize(&identifier))
      try checked(sd_bus_set_server(bus, 1, identifier))
    } started: {
      guard role == .server else { return }
      // sd-bus asks for 8 MiB of kernel memory for messages that the client does not read. That is too much for a
      // client that never reads. The kernel doubles the value.
      var size: Int32 = 128 << 10
      // The kernel reads the value.
      setsockopt(socket, SOL_SOCKET, SO_SNDBUF, &size, socklen_t(MemoryLayout<Int32>.size))
    }
  }

  /// Over a socket that is connected to a message bus.
  static func member(socket: BusDescriptor) throws(BusError) -> OpaquePointer {
    // sd-bus closes its descriptor, so it gets a copy.
    let copy = fcntl(socket.rawValue, F_DUPFD_CLOEXEC, 3)
    guard copy >= 0 else { throw .system(errno) }
    return try open(socket: copy) { (bus) throws(BusError) in try checked(sd_bus_set_bus_client(bus, 1)) }
  }

  /// Up to `count` bytes that wait in a socket, without removing them.
  static func peek(_ socket: Int32, count: Int) -> [UInt8] {
    var bytes = [UInt8](repeating: 0, count: count)
    // recv: writes at most `count` bytes
    let received = recv(socket, &bytes, count, Int32(MSG_PEEK | MSG_DONTWAIT))
    return Array(bytes.prefix(max(received, 0)))
  }

  private static func open(
    socket: Int32, _ configure: (OpaquePointer) throws(BusError) -> Void, started: () -> Void = {}
  ) throws(BusError) -> OpaquePointer {
    var created: OpaquePointer?
    guard sd_bus_new(&created) >= 0, let bus = created else {
      close(socket)
      throw .system(ENOMEM)
    }
    let result = sd_bus_set_fd(bus, socket, socket)
    guard result >= 0 else {
      sd_bus_unref(bus)
      close(socket)
      throw .system(-result)
    }
    // transfer full: from here on the bus closes the socket
    do throws(BusError) {
      try configure(bus)
      try checked(sd_bus_negotiate_fds(bus, 1))
      try checked(sd_bus_start(bus))
      started()
    } catch {
      sd_bus_close_unref(bus)
      throw error
    }
    return bus
  }
}

/// The roles of a peer-to-peer connection. They only matter during the authentication handshake.
package enum BusRole: Sendable { case client, server }

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
