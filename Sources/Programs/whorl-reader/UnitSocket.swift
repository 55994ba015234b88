internal import CSystemd
internal import Glibc
internal import SDBus

/// The listening socket of a unit, passed by systemd (sd_listen_fds(3)), and the user whose programs may use it.
struct UnitSocket {
  private let descriptor: Int32
  private let peer: UInt32

  /// Call it before the environment is emptied and before the process is confined.
  ///
  /// - Parameter user: the name of the user whose programs are served.
  init?(servingUser user: String) {
    guard sd_listen_fds(1) == 1, sd_is_socket_unix(Self.first, Int32(SOCK_STREAM.rawValue), 1, nil, 0) > 0,
      // getpwnam: the entry belongs to libc and is valid until the next call.
      let entry = getpwnam(user)
    else { return nil }
    descriptor = Self.first
    peer = entry.pointee.pw_uid
  }

  /// Waits for a program of that user and returns its connection. Closes connections of others. Nil after the time
  /// limit.
  func accept(within limit: Duration) -> Int32? {
    let end = LoopClock.now + limit.microseconds
    while true {
      let now = LoopClock.now
      guard now < end else { return nil }
      var waiting = pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0)
      guard poll(&waiting, 1, Int32(clamping: (end - now) / 1_000 + 1)) > 0 else { continue }
      // The address is not needed: a Unix socket's peer is identified by its credentials.
      let connection = accept4(descriptor, nil, nil, Int32(SOCK_CLOEXEC.rawValue))
      guard connection >= 0 else { continue }
      if (try? BusPeer(of: connection))?.userID == peer { return connection }
      close(connection)
    }
  }

  /// `SD_LISTEN_FDS_START`, a macro with parentheses.
  private static let first: Int32 = 3
}
