#pragma once
#include <spawn.h>
#include <sys/eventfd.h>
#include <sys/prctl.h>
#include <systemd/sd-bus.h>

// prctl is variadic, which Swift does not import.
static inline int whorl_set_process_option(int option, unsigned long value) {
  return prctl(option, value, 0, 0, 0);
}

// glibc 2.34 has it, but declares it only under _GNU_SOURCE, which Swift's Glibc module is built without.
extern int posix_spawn_file_actions_addclosefrom_np(posix_spawn_file_actions_t *actions, int from);
