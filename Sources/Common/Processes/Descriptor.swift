internal import Glibc

/// A file descriptor that is closed when this object is freed.
final class Descriptor: Sendable {
  let rawValue: Int32

  /// Takes ownership of the descriptor; nil for the result of a failed call.
  init?(taking descriptor: Int32) {
    guard descriptor >= 0 else { return nil }
    rawValue = descriptor
  }

  deinit { close(rawValue) }
}
