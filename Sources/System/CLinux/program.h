#pragma once
#include <elf.h>
#include <stdint.h>
#include <sys/mman.h>

#if UINTPTR_MAX == UINT64_MAX
typedef Elf64_Ehdr whorl_elf_header;
typedef Elf64_Phdr whorl_program_header;
#else
typedef Elf32_Ehdr whorl_elf_header;
typedef Elf32_Phdr whorl_program_header;
#endif

// The linker defines it: the start of the running program.
extern const whorl_elf_header __ehdr_start;

// Unmaps the pages of the running program's code and constants. The kernel maps them from the file again where they are
// used. Segments that are written to, also by relocations, stay.
static inline void whorl_unmap_code(void) {
  const char *start = (const char *)&__ehdr_start;
  const whorl_program_header *segments = (const whorl_program_header *)(start + __ehdr_start.e_phoff);
  for (int index = 0; index < __ehdr_start.e_phnum; index++) {
    const whorl_program_header *segment = &segments[index];
    if (segment->p_type != PT_LOAD || (segment->p_flags & PF_W) != 0) continue;
    // An address of the file, or a real one where the program is not position-independent.
    uintptr_t address = segment->p_vaddr + (__ehdr_start.e_type == ET_DYN ? (uintptr_t)start : 0);
    uintptr_t first = address & ~((uintptr_t)segment->p_align - 1);
    madvise((void *)first, address + segment->p_memsz - first, MADV_DONTNEED);
  }
}
