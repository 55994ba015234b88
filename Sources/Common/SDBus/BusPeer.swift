internal import CSystemd
internal import Glibc

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
