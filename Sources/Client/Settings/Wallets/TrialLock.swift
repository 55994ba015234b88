internal import Glibc

/// A file lock, so that a user has one trial of a wallet at a time.
final class TrialLock: Sendable {
  private let descriptor: Int32

  init(_ path: String) throws(WalletError) {
    descriptor = open(path, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0o600)
    guard descriptor >= 0 else { throw .system("\(path): \(String(cString: strerror(errno)))") }
    guard flock(descriptor, LOCK_EX | LOCK_NB) == 0 else { throw .busy }
  }

  deinit {
    // Unlock explicitly: a child process that is being started may still hold a copy of the descriptor.
    flock(descriptor, LOCK_UN)
    close(descriptor)
  }
}
