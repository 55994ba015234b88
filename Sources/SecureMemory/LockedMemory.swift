internal import Glibc
internal import Synchronization

/// Memory for secrets: kept out of swap (`mlock`), out of core dumps and out of forked children, and wiped before it
/// is used again or given back. A child that touches it after a bare `fork` is stopped by SIGSEGV: better than one
/// that finds zeros and goes on to use them as a key.
///
/// Locking is best effort: over `RLIMIT_MEMLOCK` (8 MiB on Debian 12) a secret still works, unlocked.
enum LockedMemory {
  /// Zero-filled memory of one owner. `@unchecked Sendable`: an address and a size, without access of its own.
  struct Block: @unchecked Sendable {
    let base: UnsafeMutableRawPointer
    let capacity: Int
    /// The slab the block is a slot of, and of which size; nil for a mapping of its own.
    fileprivate let slab: (size: Int, index: Int)?
  }

  /// Most secrets are keys of 32 bytes, and most records some hundred bytes: they share slabs, so that neither costs four
  /// system calls and a page.
  private static let slotSizes = [256, 1024]
  private static let slotsPerSlab = UInt64.bitWidth

  /// `@unchecked Sendable`: reached through the mutex of `slabs` alone.
  private struct Slab: @unchecked Sendable {
    let base: UnsafeMutableRawPointer
    /// A set bit is a free slot.
    var free: UInt64
  }

  /// Slabs of each size, kept once made: the most secrets ever alive together bounds them.
  private static let slabs = Mutex<[[Slab]]>(slotSizes.map { _ in [] })

  /// At least `count` zeroed bytes; never an empty block, so that C functions that refuse NULL take an empty secret.
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

  /// Wipes the whole capacity, used or not, and ends the block's life.
  static func release(_ block: Block) {
    // Borrows the memory for the call; a wipe the optimiser may not drop.
    explicit_bzero(block.base, block.capacity)
    guard let (size, index) = block.slab else {
      // The mapping ends here, its lock with it.
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
    // All three borrow the range and are best effort, as said above.
    madvise(base, size, MADV_DONTDUMP)
    madvise(base, size, MADV_DONTFORK)
    mlock(base, size)
    return base
  }
}
