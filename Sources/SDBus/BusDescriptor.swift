internal import Glibc

/// A file descriptor that crosses the bus (D-Bus type `h`). It owns the descriptor and closes it.
package final class BusDescriptor: Sendable {
  /// Valid as long as this object lives.
  package let rawValue: Int32

  /// Takes the descriptor over.
  package init(taking descriptor: Int32) {
    rawValue = descriptor
  }

  deinit {
    close(rawValue)
  }
}
