// Connected sockets, and who is at the other end.

internal import CSystemd
internal import Glibc

extension BusDescriptor {
  /// A socket that is connected to the message bus at this address, before any handshake: to the first of its
  /// alternatives that can be reached (``BusAddress``).
  package static func connected(toBus address: String) throws(BusError) -> BusDescriptor {
    guard let address = BusAddress(address) else { throw .system(EINVAL) }
    var failure = BusError.system(EINVAL)
    for socket in address.sockets {
      do throws(BusError) { return try connected(to: socket) } catch { failure = error }
    }
    throw failure
  }

  private static func connected(to wanted: BusAddress.Socket) throws(BusError) -> BusDescriptor {
    var name = sockaddr_un()
    let capacity = MemoryLayout.size(ofValue: name.sun_path)
    // A path ends with a NUL. A name in the abstract namespace begins with one, and ends where the address does.
    let (bytes, length): ([UInt8], Int) =
      switch wanted {
      case .path(let path): (path, capacity)
      case .abstract(let name): ([0] + name, name.count + 1)
      }
    guard bytes.count < capacity else { throw .system(ENAMETOOLONG) }
    name.sun_family = sa_family_t(AF_UNIX)
    withUnsafeMutableBytes(of: &name.sun_path) { $0.copyBytes(from: bytes) }
    // Nonblocking: a bus that accepts no connections must not stop the loop.
    let kind = Int32(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue | SOCK_NONBLOCK.rawValue)
    let socket = socket(AF_UNIX, kind, 0)
    guard socket >= 0 else { throw .system(errno) }
    let descriptor = BusDescriptor(taking: socket)
    let count = MemoryLayout<sockaddr_un>.size - capacity + length
    let result = withUnsafePointer(to: &name) { name in
      // connect: reads the address during the call
      name.withMemoryRebound(to: sockaddr.self, capacity: 1) { connect(socket, $0, socklen_t(count)) }
    }
    guard result == 0 else { throw .system(errno) }
    return descriptor
  }
}

/// The process at the other end of a Unix socket, as the kernel recorded it when the sockets were connected. For a
/// socket pair it is the process that made the pair.
package struct BusPeer: Sendable {
  package let userID: UInt32
  package let processID: Int32
  /// A pidfd of the process: unlike the number, it never means another process. Nil on kernels without `SO_PEERPIDFD`
  /// (before Linux 6.5).
  package let process: BusDescriptor?

  /// - Throws: ``BusError/disconnected`` if the process has ended, ``BusError/system(_:)`` if this is no Unix socket.
  package init(of socket: Int32) throws(BusError) {
    // `struct ucred`, which Glibc's module leaves out.
    var credentials: (pid: Int32, uid: UInt32, gid: UInt32) = (0, 0, 0)
    try Self.read(SO_PEERCRED, of: socket, into: &credentials)
    userID = credentials.uid
    processID = credentials.pid
    var descriptor: Int32 = -1
    do throws(BusError) {
      try Self.read(SO_PEERPIDFD, of: socket, into: &descriptor)
      process = BusDescriptor(taking: descriptor)
    } catch .system(ENOPROTOOPT) {
      process = nil
    } catch .system(ESRCH), .system(EINVAL) {
      // The process has ended and was waited for. Kernels differ in the error.
      throw .disconnected
    }
  }

  private static func read<Value: BitwiseCopyable>(
    _ option: Int32, of socket: Int32, into value: inout Value
  ) throws(BusError) {
    var size = socklen_t(MemoryLayout<Value>.size)
    // The kernel writes at most `size` bytes.
    guard getsockopt(socket, SOL_SOCKET, option, &value, &size) == 0 else { throw .system(errno) }
    guard size == socklen_t(MemoryLayout<Value>.size) else { throw .system(EINVAL) }
  }
}
