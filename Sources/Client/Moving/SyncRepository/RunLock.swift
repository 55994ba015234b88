internal import Glibc
internal import Primitives

/// A lock that allows only one run at a time for a store.
final class RunLock: Sendable {
  private let descriptor: Int32

  init(_ path: String, patience: Duration) async throws(SyncRunError) {
    descriptor = open(path, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0o600)
    guard descriptor >= 0 else { throw .system("\(path): \(String(cString: strerror(errno)))") }
    let start = ContinuousClock.now
    while flock(descriptor, LOCK_EX | LOCK_NB) != 0 {
      guard ContinuousClock.now - start < patience else { throw .busy }
      do { try await Pause.wait(for: .milliseconds(100)) } catch { throw .busy }
    }
  }

  deinit {
    if descriptor >= 0 { close(descriptor) }
  }
}
