internal import CExpat
internal import Glibc

/// Memory for the XML parser, which copies parts of its input. It is wiped before it is freed, but not locked.
///
/// C callbacks are functions, so none of them belongs to an actor.
enum WipingMemory {
  static var suite: XML_Memory_Handling_Suite {
    XML_Memory_Handling_Suite(malloc_fcn: allocate, realloc_fcn: reallocate, free_fcn: release)
  }
}

// Gives the caller memory to be freed by `release` alone.
private func allocate(_ size: Int) -> UnsafeMutableRawPointer? { malloc(size) }

// Frees the old memory if it returns new memory.
private func reallocate(_ old: UnsafeMutableRawPointer?, _ size: Int) -> UnsafeMutableRawPointer? {
  // realloc itself may move the block and leave the old one as it was.
  guard let new = malloc(size) else { return nil }
  if let old {
    memcpy(new, old, min(malloc_usable_size(old), size))
    release(old)
  }
  return new
}

private func release(_ memory: UnsafeMutableRawPointer?) {
  guard let memory else { return }
  explicit_bzero(memory, malloc_usable_size(memory))
  free(memory)
}
