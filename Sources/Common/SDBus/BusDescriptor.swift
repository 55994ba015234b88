internal import Glibc

/// A file descriptor in a message (D-Bus type `h`). Owns the descriptor and closes it.
package final class BusDescriptor: Sendable {
  /// Valid as long as this object lives.
  package let rawValue: Int32

  /// Takes ownership of the descriptor.
  package init(taking descriptor: Int32) {
    rawValue = descriptor
  }

  deinit {
    close(rawValue)
  }
}
