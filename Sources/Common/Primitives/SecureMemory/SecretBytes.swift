// Secrets in memory. Begin with `SecretBytes`, which every secret lives in. `SecretStreams.swift` reads and
// writes them over descriptors, `SealedFile.swift` passes them to another process.

internal import CLinux
internal import Glibc
internal import Synchronization

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
    unsafe withUnsafeMutableBytes { unsafe $0.copyMemory(from: bytes) }
  }

  /// Copies the bytes. The caller must wipe the original.
  public init(copying bytes: Span<UInt8>) {
    self.init(count: bytes.count)
    unsafe bytes.withUnsafeBytes { source in
      unsafe withUnsafeMutableBytes { unsafe $0.copyMemory(from: source) }
    }
  }

  /// A secret between bytes that need no protection.
  package init(joining before: [UInt8], _ secret: borrowing SecretBytes, _ after: [UInt8]) {
    self.init(count: before.count + secret.count + after.count)
    let middle = before.count..<before.count + secret.count
    unsafe withUnsafeMutableBytes { target in
      unsafe target[..<middle.lowerBound].copyBytes(from: before)
      unsafe secret.withUnsafeBytes {
        unsafe UnsafeMutableRawBufferPointer(rebasing: target[middle]).copyMemory(from: $0)
      }
      unsafe target[middle.upperBound...].copyBytes(from: after)
    }
  }

  deinit { LockedMemory.release(block) }

  /// Makes a second secret with the same bytes.
  public borrowing func copy() -> SecretBytes {
    unsafe withUnsafeBytes { unsafe SecretBytes(copying: $0) }
  }

  /// Lends the bytes to `body`. The pointer is valid only during the call and is never nil.
  public borrowing func withUnsafeBytes<R: ~Copyable, E: Error>(
    _ body: (UnsafeRawBufferPointer) throws(E) -> R
  ) throws(E) -> R {
    try unsafe body(UnsafeRawBufferPointer(start: block.base, count: count))
  }

  /// Lends the bytes to `body` for writing. The pointer is valid only during the call and is never nil.
  public mutating func withUnsafeMutableBytes<R: ~Copyable, E: Error>(
    _ body: (UnsafeMutableRawBufferPointer) throws(E) -> R
  ) throws(E) -> R {
    try unsafe body(UnsafeMutableRawBufferPointer(start: block.base, count: count))
  }

  /// Whether both hold the same bytes. The time it takes depends on the lengths only.
  package borrowing func constantTimeEquals(_ other: borrowing SecretBytes) -> Bool {
    guard count == other.count else { return false }
    // Borrows both for the call.
    return unsafe whorl_is_equal_in_constant_time(block.base, other.block.base, count)
  }

  /// Truncates the secret, or extends it with zeros. Removed bytes are wiped, and so is the old memory if the secret
  /// moves.
  package mutating func resize(to newCount: Int) {
    if newCount > block.capacity {
      // Double the capacity, so that a secret that grows in small steps is not copied at each step.
      let larger = LockedMemory.allocate(max(newCount, block.capacity * 2))
      unsafe larger.base.copyMemory(from: block.base, byteCount: count)
      LockedMemory.release(block)
      block = larger
    } else if newCount < count {
      // Borrows the tail for the call.
      unsafe explicit_bzero(block.base + newCount, count - newCount)
    }
    count = newCount
  }
}

/// A secret with several owners, wiped when the last one releases it. For closures and stored values, which cannot hold
/// a noncopyable `SecretBytes`.
package final class SharedSecret: Sendable {
  /// The secret, to be read in place.
  package let bytes: SecretBytes

  /// Takes over a secret.
  package init(_ bytes: consuming SecretBytes) { self.bytes = bytes }

  /// A second secret with the same bytes.
  package func copy() -> SecretBytes { bytes.copy() }
}

/// Memory for secrets. It is excluded from swap (`mlock`), from core dumps and from forked children, and wiped before
/// it is reused or freed. A child that accesses it after `fork` gets SIGSEGV, which is safer than using zeros as a key.
///
/// Locking is best effort: beyond `RLIMIT_MEMLOCK` (8 MiB on Debian 12) the memory still works but is not locked.
enum LockedMemory {
  /// Zeroed memory with one owner. `@unchecked Sendable`: it holds an address and a size, and does not access the
  /// memory.
  @safe struct Block: @unchecked Sendable {
    let base: UnsafeMutableRawPointer
    let capacity: Int
    /// The slot size and the index of the slab that contains the block. Nil if the block has its own mapping.
    fileprivate let slab: (size: Int, index: Int)?
  }

  /// The slot sizes, in bytes. Most secrets are keys of 32 bytes, and most records have some hundred bytes: sharing
  /// slabs saves each of them four system calls and a page.
  private static let slotSizes = [256, 1024]
  private static let slotsPerSlab = UInt64.bitWidth

  /// The slots of one mapping. `@unchecked Sendable`: only used under the mutex of `slabs`.
  @safe private struct Slab: @unchecked Sendable {
    /// Nil while it has no memory.
    var base: UnsafeMutableRawPointer?
    /// A bit for each slot; 1 means free.
    var free = UInt64.max
  }

  /// The slabs of one slot size.
  private struct Slabs: Sendable {
    let slotSize: Int
    private var slabs: [Slab] = []
    /// No slab before this index has a free slot.
    private var first = 0
    /// The number of free slots that have memory.
    private var spare = 0

    init(slotSize: Int) { self.slotSize = slotSize }

    /// Takes a free slot, and returns its address and the index of its slab.
    mutating func take() -> (UnsafeMutableRawPointer, index: Int) {
      let index: Int = slabs[first...].firstIndex { $0.free != 0 } ?? slabs.count
      if index == slabs.count { slabs.append(Slab()) }
      first = index
      let base = unsafe slabs[index].base ?? map(slotSize * slotsPerSlab)
      if unsafe slabs[index].base == nil {
        unsafe slabs[index].base = base
        spare += slotsPerSlab
      }
      let slot = slabs[index].free.trailingZeroBitCount
      slabs[index].free &= ~(1 << UInt64(slot))
      spare -= 1
      return unsafe (base + slot * slotSize, index)
    }

    /// Gives a slot back. Frees its slab if nothing else is in it, unless there are few other free slots.
    mutating func give(_ address: UnsafeMutableRawPointer, index: Int) {
      guard let base = unsafe slabs[index].base else { return }
      unsafe slabs[index].free |= 1 << UInt64((address - base) / slotSize)
      first = min(first, index)
      spare += 1
      guard slabs[index].free == .max, spare >= 2 * slotsPerSlab else { return }
      // Unmapping also unlocks the memory.
      unsafe munmap(base, slotSize * slotsPerSlab)
      unsafe slabs[index].base = nil
      spare -= slotsPerSlab
    }
  }

  private static let slabs = Mutex(slotSizes.map { Slabs(slotSize: $0) })

  /// Allocates at least `count` zeroed bytes. Even an empty secret gets an address, because some C functions refuse
  /// NULL.
  static func allocate(_ count: Int) -> Block {
    precondition(count >= 0, "a secret cannot have a negative length")
    guard let size = slotSizes.firstIndex(where: { count <= $0 }) else {
      let page = Int(getpagesize())
      let (rounded, overflow) = count.addingReportingOverflow(page - 1)
      guard !overflow else { fatalError("out of memory") }
      let capacity = rounded / page * page
      return unsafe Block(base: map(capacity), capacity: capacity, slab: nil)
    }
    let slotSize = slotSizes[size]
    return slabs.withLock { slabs in
      let (base, index) = unsafe slabs[size].take()
      return unsafe Block(base: base, capacity: slotSize, slab: (size, index))
    }
  }

  /// Wipes the whole capacity and frees the block.
  static func release(_ block: Block) {
    // Borrows the memory for the call. The compiler cannot optimise this wipe away.
    unsafe explicit_bzero(block.base, block.capacity)
    guard let (size, index) = block.slab else {
      // Unmapping also unlocks the memory.
      unsafe munmap(block.base, block.capacity)
      return
    }
    slabs.withLock { unsafe $0[size].give(block.base, index: index) }
  }

  private static func map(_ size: Int) -> UnsafeMutableRawPointer {
    // Returns a new private mapping owned by the caller, zero-filled by the kernel.
    let base = unsafe mmap(nil, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0)
    guard let base = unsafe base, unsafe base != MAP_FAILED else { fatalError("out of memory") }
    // All three borrow the range. They are best effort, as explained above.
    unsafe madvise(base, size, MADV_DONTDUMP)
    unsafe madvise(base, size, MADV_DONTFORK)
    unsafe mlock(base, size)
    return unsafe base
  }
}
