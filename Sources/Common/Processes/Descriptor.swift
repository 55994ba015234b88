internal import Glibc

/// A file descriptor that is closed with its last owner.
final class Descriptor: Sendable {
  let rawValue: Int32

  /// Takes the descriptor over; nil for the result of a call that failed.
  init?(taking descriptor: Int32) {
    guard descriptor >= 0 else { return nil }
    rawValue = descriptor
  }

  deinit { close(rawValue) }
}
