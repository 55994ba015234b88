import Glibc

/// An advisory lock on a file (`flock`), held while the value lives and gone with the process at the latest.
struct FileLock: ~Copyable {
  enum Mode {
    case shared, exclusive
  }

  private let descriptor: CInt

  /// Takes the lock or, when another holds it, gives nil at once.
  init?(trying path: String, _ mode: Mode) throws(VaultError) {
    let descriptor = Glibc.open(path, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0o600)
    guard descriptor >= 0 else { throw .inputOutput("cannot open \(path): \(errnoText())") }
    while flock(descriptor, (mode == .shared ? LOCK_SH : LOCK_EX) | LOCK_NB) != 0 {
      let error = errno
      if error == EINTR { continue }
      Glibc.close(descriptor)
      if error == EWOULDBLOCK { return nil }
      throw .inputOutput("cannot lock \(path): \(String(cString: strerror(error)))")
    }
    self.descriptor = descriptor
  }

  /// Waits for a lock that others hold for moments only: while one change is committed.
  static func brief(_ path: String, _ mode: Mode) throws(VaultError) -> FileLock {
    for _ in 0..<10_000 {
      if let lock = try FileLock(trying: path, mode) { return lock }
      usleep(1_000)
    }
    throw .busy("another program has held the store for ten seconds")
  }

  deinit { Glibc.close(descriptor) }
}
