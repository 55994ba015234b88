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
