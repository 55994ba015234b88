import Executors
import Glibc

/// An advisory lock on a file (`flock`), held until this object is freed or the process ends.
package final class FileLock: Sendable {
  package enum Mode {
    case shared, exclusive
  }

  private let descriptor: CInt

  /// Takes the lock. Returns nil at once if another process holds it.
  package static func trying(_ path: String, _ mode: Mode) throws(VaultError) -> FileLock? {
    var descriptor = Glibc.open(path, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0o600)
    // On a read-only file system, open the lock file for reading. The shared lock still keeps out writers through
    // another mount.
    if descriptor < 0, errno == EROFS, mode == .shared {
      descriptor = Glibc.open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW)
    }
    guard descriptor >= 0 else {
      if errno == EROFS { throw .readOnly(path) }
      throw .inputOutput("cannot open \(path): \(errnoText())")
    }
    while flock(descriptor, (mode == .shared ? LOCK_SH : LOCK_EX) | LOCK_NB) != 0 {
      let error = errno
      if error == EINTR { continue }
      Glibc.close(descriptor)
      if error == EWOULDBLOCK { return nil }
      throw .inputOutput("cannot lock \(path): \(String(cString: strerror(error)))")
    }
    return FileLock(descriptor)
  }

  private init(_ descriptor: CInt) {
    self.descriptor = descriptor
  }

  /// Waits for a lock that is held only briefly, while a change is committed.
  static func brief(_ path: String, _ mode: Mode) throws(VaultError) -> FileLock {
    for attempt in 0..<10_000 {
      if let lock = try trying(path, mode) { return lock }
      if attempt == 0 { CurrentThread.willWait() }
      usleep(1_000)
    }
    throw .busy("another program has held the store for ten seconds")
  }

  deinit { Glibc.close(descriptor) }

  /// The number that the last holder left for the next one; nil if there is none.
  package var note: UInt64? {
    var value: UInt64 = 0
    return pread(descriptor, &value, 8, 0) == 8 ? value : nil
  }

  /// Leaves a number for the next holder. It is advisory: a failure to write it is ignored.
  package func leave(_ note: UInt64) {
    var value = note
    _ = pwrite(descriptor, &value, 8, 0)
  }
}
