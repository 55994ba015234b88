internal import CLinux
internal import Glibc

/// A secret with one owner. Where the system allows, its memory is excluded from swap and core dumps. It is wiped when
/// the value is destroyed.
///
/// A secret cannot be copied or printed by accident. It is not copyable, so it does not convert to `Any`, which
/// interpolation, `dump`, `String(reflecting:)` and `Mirror` all need: the compiler refuses them. A type that contains
/// a `SecretBytes` prints the field as `()`.
///
/// `@unchecked Sendable`: the memory has one owner, and is written only with exclusive access.
public struct SecretBytes: ~Copyable, @unchecked Sendable {
  private var block: LockedMemory.Block

  /// The length in bytes.
  public private(set) var count: Int

  /// Whether the length is zero.
  public var isEmpty: Bool { count == 0 }

  /// Makes a secret of `count` zero bytes.
  public init(count: Int) {
    block = LockedMemory.allocate(count)
    self.count = count
  }

  /// Copies the bytes. The caller must wipe the original.
  public init(copying bytes: UnsafeRawBufferPointer) {
    self.init(count: bytes.count)
    withUnsafeMutableBytes { $0.copyMemory(from: bytes) }
  }

  /// Copies the bytes. The caller must wipe the original.
  public init(copying bytes: Span<UInt8>) {
    self.init(count: bytes.count)
    bytes.withUnsafeBytes { source in
      withUnsafeMutableBytes { $0.copyMemory(from: source) }
    }
  }

  /// A secret between bytes that need no protection.
  package init(joining before: [UInt8], _ secret: borrowing SecretBytes, _ after: [UInt8]) {
    self.init(count: before.count + secret.count + after.count)
    let middle = before.count..<before.count + secret.count
    withUnsafeMutableBytes { target in
      target[..<middle.lowerBound].copyBytes(from: before)
      secret.withUnsafeBytes { UnsafeMutableRawBufferPointer(rebasing: target[middle]).copyMemory(from: $0) }
      target[middle.upperBound...].copyBytes(from: after)
    }
  }

  deinit { LockedMemory.release(block) }

  /// Makes a second secret with the same bytes.
  public borrowing func copy() -> SecretBytes {
    withUnsafeBytes { SecretBytes(copying: $0) }
  }

  /// Lends the bytes to `body`. The pointer is valid only during the call and is never nil.
  public borrowing func withUnsafeBytes<R: ~Copyable, E: Error>(
    _ body: (UnsafeRawBufferPointer) throws(E) -> R
  ) throws(E) -> R {
    try body(UnsafeRawBufferPointer(start: block.base, count: count))
  }

  /// Lends the bytes to `body` for writing. The pointer is valid only during the call and is never nil.
  public mutating func withUnsafeMutableBytes<R: ~Copyable, E: Error>(
    _ body: (UnsafeMutableRawBufferPointer) throws(E) -> R
  ) throws(E) -> R {
    try body(UnsafeMutableRawBufferPointer(start: block.base, count: count))
  }

  /// Whether both hold the same bytes. The time it takes depends on the lengths only.
  package borrowing func constantTimeEquals(_ other: borrowing SecretBytes) -> Bool {
    guard count == other.count else { return false }
    // Borrows both for the call.
    return whorl_is_equal_in_constant_time(block.base, other.block.base, count)
  }

  /// Truncates the secret, or extends it with zeros. Removed bytes are wiped, and so is the old memory if the secret
  /// moves.
  package mutating func resize(to newCount: Int) {
    if newCount > block.capacity {
      // Double the capacity, so that a secret that grows in small steps is not copied at each step.
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
