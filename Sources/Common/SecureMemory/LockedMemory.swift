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

  /// The slots of one mapping. `@unchecked Sendable`: only used under the mutex of `slabs`.
  private struct Slab: @unchecked Sendable {
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
      let index = slabs[first...].firstIndex { $0.free != 0 } ?? slabs.count
      if index == slabs.count { slabs.append(Slab()) }
      first = index
      let base = slabs[index].base ?? map(slotSize * slotsPerSlab)
      if slabs[index].base == nil {
        slabs[index].base = base
        spare += slotsPerSlab
      }
      let slot = slabs[index].free.trailingZeroBitCount
      slabs[index].free &= ~(1 << UInt64(slot))
      spare -= 1
      return (base + slot * slotSize, index)
    }

    /// Gives a slot back. Frees its slab if nothing else is in it, unless there are few other free slots.
    mutating func give(_ address: UnsafeMutableRawPointer, index: Int) {
      guard let base = slabs[index].base else { return }
      slabs[index].free |= 1 << UInt64((address - base) / slotSize)
      first = min(first, index)
      spare += 1
      guard slabs[index].free == .max, spare >= 2 * slotsPerSlab else { return }
      // Unmapping also unlocks the memory.
      munmap(base, slotSize * slotsPerSlab)
      slabs[index].base = nil
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
      return Block(base: map(capacity), capacity: capacity, slab: nil)
    }
    let slotSize = slotSizes[size]
    return slabs.withLock { slabs in
      let (base, index) = slabs[size].take()
      return Block(base: base, capacity: slotSize, slab: (size, index))
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
    slabs.withLock { $0[size].give(block.base, index: index) }
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
