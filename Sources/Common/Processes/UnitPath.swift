internal import Glibc
internal import SDBus

/// The socket of a system unit, and its required owner.
package struct UnitPath: Sendable {
  package let path: String
  /// The user that must have made the socket. systemd makes those of system units. The kernel reports only who began to
  /// listen, not who answers, so the folder must be one where nobody else can make a socket.
  private let maker: UInt32

  /// - Parameters:
  ///   - path: a full path.
  ///   - maker: root, for system units; tests make their own sockets.
  package init(_ path: String, madeBy maker: UInt32 = 0) {
    self.path = path
    self.maker = maker
  }

  private var folder: String { String(path[..<(path.lastIndex(of: "/") ?? path.startIndex)]) }

  /// Connects to the unit, which systemd starts. The caller owns the socket.
  package func connect() throws(UnitPathError) -> Int32 {
    do throws(PathWalkError) {
      // Check the folder only: users may write to the socket itself.
      try PathWalk.check(folder, trusting: maker == 0 ? .rootAlone : .rootAndEffectiveUser)
    } catch {
      throw UnitPathError(words: "\(path): others could have put a socket there")
    }
    do throws(BusError) {
      let socket = try BusDescriptor.connected(toBus: BusAddress.of(socketAt: path))
      guard try BusPeer(of: socket.rawValue).userID == maker else {
        throw .system(EPERM)
      }
      // This object closes its own descriptor.
      let copy = fcntl(socket.rawValue, F_DUPFD_CLOEXEC, 3)
      guard copy >= 0 else { throw .system(errno) }
      return copy
    } catch {
      let reason = if case .system(let code) = error { String(cString: strerror(code)) } else { "nobody listens" }
      throw UnitPathError(words: "\(path): \(reason)")
    }
  }
}

/// Why a unit cannot be reached.
package struct UnitPathError: Error, Sendable, Hashable {
  /// The message for people.
  package let words: String
}
