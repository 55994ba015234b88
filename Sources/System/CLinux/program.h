#pragma once
#include <elf.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/mman.h>

#if UINTPTR_MAX == UINT64_MAX
typedef Elf64_Phdr whorl_program_header;
#else
typedef Elf32_Phdr whorl_program_header;
#endif

// The beginning of `dl_phdr_info`: glibc declares it and this function only under _GNU_SOURCE, which Swift's Glibc module
// is built without.
struct whorl_loaded_object {
  uintptr_t address;
  const char *name;
  const whorl_program_header *segments;
  uint16_t segment_count;
};
extern int dl_iterate_phdr(int (*body)(struct whorl_loaded_object *, size_t, void *), void *context);

static inline int whorl_unmap_code_of(struct whorl_loaded_object *object, size_t size, void *context) {
  (void)size;
  (void)context;
  for (int index = 0; index < object->segment_count; index++) {
    const whorl_program_header *segment = &object->segments[index];
    if (segment->p_type != PT_LOAD || (segment->p_flags & PF_W) != 0) continue;
    uintptr_t address = object->address + segment->p_vaddr;
    uintptr_t first = address & ~((uintptr_t)segment->p_align - 1);
    madvise((void *)first, address + segment->p_memsz - first, MADV_DONTNEED);
  }
  return 0;
}

// Unmaps the pages of the code and the constants of the running program and its libraries. The kernel maps them from the
// files again where they are used. Segments that are written to, also by relocations, stay.
static inline void whorl_unmap_code(void) { dl_iterate_phdr(whorl_unmap_code_of, NULL); }
