internal import Fingerprint
internal import Glibc
internal import Processes
internal import SDBus

/// The socket of a reader's unit, and whose it has to be.
struct UnitPath: Sendable {
  let path: String
  /// Who has to have made the socket. systemd makes those of the system, and the kernel names who listens first, not who
  /// answers: the path has to be one that nobody else can put a socket at.
  let maker: UInt32

  private var folder: String { String(path[..<(path.lastIndex(of: "/") ?? path.startIndex)]) }

  func connect() throws(ReaderError) -> Int32 {
    do throws(PathWalkError) {
      // Not the socket itself, which its users may write to.
      try PathWalk.check(folder, trusting: maker == 0 ? .rootAlone : .rootAndEffectiveUser)
    } catch {
      throw .cannotStart("\(path): others could have put a socket there")
    }
    do throws(BusError) {
      let socket = try BusDescriptor.connected(toBus: "unix:path=\(path)")
      guard try BusPeer(of: socket.rawValue).userID == maker else {
        throw .system(EPERM)
      }
      // The connection takes its own.
      let copy = fcntl(socket.rawValue, F_DUPFD_CLOEXEC, 3)
      guard copy >= 0 else { throw .system(errno) }
      return copy
    } catch {
      let reason = if case .system(let code) = error { String(cString: strerror(code)) } else { "nobody listens" }
      throw .cannotStart("\(path): \(reason)")
    }
  }
}
