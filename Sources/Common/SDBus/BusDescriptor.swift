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

/// Two are equal if they are the same object: different descriptors of one file are different values.
extension BusDescriptor: Hashable {
  package static func == (left: BusDescriptor, right: BusDescriptor) -> Bool { left === right }

  package func hash(into hasher: inout Hasher) { hasher.combine(ObjectIdentifier(self)) }
}
