internal import CLinux
internal import Glibc

/// A secret: one owner, memory that is kept out of swap and core dumps where the system allows, and wiped when the
/// owner lets go.
///
/// It cannot be copied by accident, and it cannot be printed: not copyable, it does not convert to `Any`, which
/// interpolation, `dump`, `String(reflecting:)` and `Mirror` all need, so the compiler refuses them. A type that
/// holds one shows the field as `()`.
///
/// `@unchecked Sendable`: the memory has this one owner, and is written through exclusive access alone.
public struct SecretBytes: ~Copyable, @unchecked Sendable {
  private var block: LockedMemory.Block

  /// The number of bytes.
  public private(set) var count: Int

  /// Whether there are no bytes at all.
  public var isEmpty: Bool { count == 0 }

  /// `count` zero bytes.
  public init(count: Int) {
    block = LockedMemory.allocate(count)
    self.count = count
  }

  /// A copy of bytes held elsewhere. Wiping the original is the caller's part.
  public init(copying bytes: UnsafeRawBufferPointer) {
    self.init(count: bytes.count)
    withUnsafeMutableBytes { $0.copyMemory(from: bytes) }
  }

  /// A copy of bytes held elsewhere. Wiping the original is the caller's part.
  public init(copying bytes: Span<UInt8>) {
    self.init(count: bytes.count)
    bytes.withUnsafeBytes { source in
      withUnsafeMutableBytes { $0.copyMemory(from: source) }
    }
  }

  deinit { LockedMemory.release(block) }

  /// A second secret with the same bytes.
  public borrowing func copy() -> SecretBytes {
    withUnsafeBytes { SecretBytes(copying: $0) }
  }

  /// Lends the bytes to `body`. The pointer is good for the call alone and is never nil.
  public borrowing func withUnsafeBytes<R: ~Copyable, E: Error>(
    _ body: (UnsafeRawBufferPointer) throws(E) -> R
  ) throws(E) -> R {
    try body(UnsafeRawBufferPointer(start: block.base, count: count))
  }

  /// Lends the bytes to `body` for writing. The pointer is good for the call alone and is never nil.
  public mutating func withUnsafeMutableBytes<R: ~Copyable, E: Error>(
    _ body: (UnsafeMutableRawBufferPointer) throws(E) -> R
  ) throws(E) -> R {
    try body(UnsafeMutableRawBufferPointer(start: block.base, count: count))
  }

  /// Whether both hold the same bytes, in a time that depends on their lengths alone.
  package borrowing func constantTimeEquals(_ other: borrowing SecretBytes) -> Bool {
    guard count == other.count else { return false }
    // Borrows both for the call.
    return whorl_is_equal_in_constant_time(block.base, other.block.base, count)
  }

  /// Cuts the secret off, or lengthens it with zeros. What is cut off is wiped, and so is memory that became too
  /// small.
  package mutating func resize(to newCount: Int) {
    if newCount > block.capacity {
      // Doubled, so that a secret that grows piece by piece is not copied for each piece.
      let larger = LockedMemory.allocate(max(newCount, block.capacity * 2))
      larger.base.copyMemory(from: block.base, byteCount: count)
      LockedMemory.release(block)
      block = larger
    } else if newCount < count {
      // Borrows the tail for the call.
      explicit_bzero(block.base + newCount, count - newCount)
    }
    count = newCount
  }
}
