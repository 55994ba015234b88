internal import Glibc
internal import Synchronization

/// Memory for secrets. It is excluded from swap (`mlock`), from core dumps and from forked children, and wiped before
/// it is reused or freed. A child that accesses it after `fork` gets SIGSEGV, which is safer than using zeros as a key.
///
/// Locking is best effort: beyond `RLIMIT_MEMLOCK` (8 MiB on Debian 12) the memory still works but is not locked.
enum LockedMemory {
  /// Zeroed memory with one owner. `@unchecked Sendable`: it holds an address and a size, and does not access the
  /// memory.
  struct Block: @unchecked Sendable {
    let base: UnsafeMutableRawPointer
    let capacity: Int
    /// The slot size and the index of the slab that contains the block. Nil if the block has its own mapping.
    fileprivate let slab: (size: Int, index: Int)?
  }

  /// The slot sizes, in bytes. Most secrets are keys of 32 bytes, and most records have some hundred bytes: sharing
  /// slabs saves each of them four system calls and a page.
  private static let slotSizes = [256, 1024]
  private static let slotsPerSlab = UInt64.bitWidth

  /// `@unchecked Sendable`: only used under the mutex of `slabs`.
  private struct Slab: @unchecked Sendable {
    let base: UnsafeMutableRawPointer
    /// A bit for each slot; 1 means free.
    var free: UInt64
  }

  /// The slabs of each slot size. They are never freed, so their number is set by the largest number of secrets alive
  /// at once.
  private static let slabs = Mutex<[[Slab]]>(slotSizes.map { _ in [] })

  /// Allocates at least `count` zeroed bytes. Even an empty secret gets an address, because some C functions refuse
  /// NULL.
  static func allocate(_ count: Int) -> Block {
    precondition(count >= 0, "a secret cannot have a negative length")
    guard let size = slotSizes.firstIndex(where: { count <= $0 }) else {
      let page = Int(getpagesize())
      let (rounded, overflow) = count.addingReportingOverflow(page - 1)
      guard !overflow else { fatalError("out of memory") }
      let capacity = rounded / page * page
      return Block(base: map(capacity), capacity: capacity, slab: nil)
    }
    let slotSize = slotSizes[size]
    return slabs.withLock { slabs in
      let index: Int
      if let found = slabs[size].firstIndex(where: { $0.free != 0 }) {
        index = found
      } else {
        slabs[size].append(Slab(base: map(slotSize * slotsPerSlab), free: .max))
        index = slabs[size].count - 1
      }
      let slot = slabs[size][index].free.trailingZeroBitCount
      slabs[size][index].free &= ~(1 << UInt64(slot))
      return Block(base: slabs[size][index].base + slot * slotSize, capacity: slotSize, slab: (size, index))
    }
  }

  /// Wipes the whole capacity and frees the block.
  static func release(_ block: Block) {
    // Borrows the memory for the call. The compiler cannot optimise this wipe away.
    explicit_bzero(block.base, block.capacity)
    guard let (size, index) = block.slab else {
      // Unmapping also unlocks the memory.
      munmap(block.base, block.capacity)
      return
    }
    slabs.withLock { slabs in
      let slot = (block.base - slabs[size][index].base) / slotSizes[size]
      slabs[size][index].free |= 1 << UInt64(slot)
    }
  }

  private static func map(_ size: Int) -> UnsafeMutableRawPointer {
    // Returns a new private mapping owned by the caller, zero-filled by the kernel.
    let base = mmap(nil, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0)
    guard let base, base != MAP_FAILED else { fatalError("out of memory") }
    // All three borrow the range. They are best effort, as explained above.
    madvise(base, size, MADV_DONTDUMP)
    madvise(base, size, MADV_DONTFORK)
    mlock(base, size)
    return base
  }
}
