internal import CSystemd
internal import Glibc

extension BusDescriptor {
  /// A socket that is connected to the message bus at this address, before any handshake.
  ///
  /// - Parameter address: `unix:path=` and a full path, the only form that the buses of a machine use. A list of
  ///   addresses, other keys and escaped bytes are refused.
  package static func connected(toBus address: String) throws(BusError) -> BusDescriptor {
    let prefix = "unix:path="
    let path = Array(address.dropFirst(prefix.count).utf8)
    var name = sockaddr_un()
    let capacity = MemoryLayout.size(ofValue: name.sun_path)
    guard address.hasPrefix(prefix), path.first == UInt8(ascii: "/"), path.count < capacity,
      !path.contains(where: { ";,%".utf8.contains($0) || $0 == 0 })
    else { throw .system(EINVAL) }
    name.sun_family = sa_family_t(AF_UNIX)
    withUnsafeMutableBytes(of: &name.sun_path) { $0.copyBytes(from: path) }
    // Nonblocking: a bus that accepts no connections must not stop the loop.
    let kind = Int32(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue | SOCK_NONBLOCK.rawValue)
    let socket = socket(AF_UNIX, kind, 0)
    guard socket >= 0 else { throw .system(errno) }
    let descriptor = BusDescriptor(taking: socket)
    let result = withUnsafePointer(to: &name) { name in
      // connect: reads the address during the call
      name.withMemoryRebound(to: sockaddr.self, capacity: 1) {
        connect(socket, $0, socklen_t(MemoryLayout<sockaddr_un>.size))
      }
    }
    guard result == 0 else { throw .system(errno) }
    return descriptor
  }
}
