#pragma once
#include <fcntl.h>
#include <signal.h>
#include <spawn.h>
#include <stdint.h>
#include <sys/eventfd.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/vfs.h>
#include <sys/xattr.h>
#include <time.h>
#include <unistd.h>

// `prctl` is variadic and is not imported.
static inline int whorl_refuse_inspection(void) { return prctl(PR_SET_DUMPABLE, 0, 0, 0, 0); }

// The resource names are an enumeration that Swift does not take for the `int` the calls want.
static inline int whorl_get_core_limit(struct rlimit *limit) { return getrlimit(RLIMIT_CORE, limit); }
static inline int whorl_set_core_limit(const struct rlimit *limit) { return setrlimit(RLIMIT_CORE, limit); }

// `timespec` belongs to another module in every kind of build, so that no one import names it for all.
static inline int whorl_wait_for_signal(const sigset_t *set, int milliseconds) {
  const struct timespec limit = {milliseconds / 1000, milliseconds % 1000 * 1000000L};
  return sigtimedwait(set, (siginfo_t *)0, &limit);
}

// glibc 2.34 has it, but declares it only under _GNU_SOURCE, which Swift's Glibc module is built without.
extern int posix_spawn_file_actions_addclosefrom_np(posix_spawn_file_actions_t *actions, int from);

// glibc declares O_PATH only under _GNU_SOURCE. The value is the same on x86, ARM and RISC-V.
static const int whorl_o_path = 010000000;

// glibc has no function for openat2. The structure and the two values are those of <linux/openat2.h>, which sysroots
// without kernel headers do not have.
static inline int whorl_open_in_one_mount(int folder, const char *path, int flags) {
  const struct {
    uint64_t flags, mode, resolve;
  } how = {(uint64_t)flags, 0, 0x01 /* RESOLVE_NO_XDEV */};
  return (int)syscall(437 /* openat2 */, folder, path, &how, sizeof how);
}
