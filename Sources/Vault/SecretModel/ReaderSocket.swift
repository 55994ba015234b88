import Glibc

/// The socket of a lent reader. Closing it ends the loan.
package struct ReaderSocket: ~Copyable, Sendable {
  private let descriptor: Int32

  /// Takes ownership of a descriptor.
  package init(taking descriptor: Int32) { self.descriptor = descriptor }

  deinit { close(descriptor) }

  /// Passes the descriptor to the caller, who must close it.
  package consuming func release() -> Int32 {
    let descriptor = descriptor
    discard self
    return descriptor
  }
}
