#pragma once
#include <linux/audit.h>
#include <linux/capability.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

// glibc has no functions for Landlock. Its structures are defined here, because older kernel headers have only their
// first versions (<linux/landlock.h>, landlock(7)). The numbers are the same on every architecture.

// The newest version of Landlock that the kernel has; negative where it has none.
static inline int whorl_landlock_version(void) {
  return (int)syscall(444 /* landlock_create_ruleset */, (void *)0, 0, 1 /* LANDLOCK_CREATE_RULESET_VERSION */);
}

struct whorl_landlock_ruleset {
  uint64_t handled_access_fs, handled_access_net, scoped;
};

// For a kernel that knows only the first fields, `size` covers these alone.
static inline int whorl_landlock_create_ruleset(const struct whorl_landlock_ruleset *ruleset, size_t size) {
  return (int)syscall(444 /* landlock_create_ruleset */, ruleset, size, 0);
}

static inline int whorl_landlock_allow_beneath(int ruleset, int place, uint64_t access) {
  const struct {
    uint64_t allowed_access;
    int32_t parent_fd;
  } __attribute__((packed)) rule = {access, place};
  return (int)syscall(445 /* landlock_add_rule */, ruleset, 1 /* LANDLOCK_RULE_PATH_BENEATH */, &rule, 0);
}

static inline int whorl_landlock_restrict_self(int ruleset) {
  return (int)syscall(446 /* landlock_restrict_self */, ruleset, 0);
}

// `prctl` is variadic and is not imported.
static inline int whorl_set_no_new_privileges(void) { return prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0); }

// PR_SET_MDWE with PR_MDWE_REFUSE_EXEC_GAIN and PR_MDWE_NO_INHERIT, which the headers of older systems do not have.
static inline int whorl_refuse_new_executable_memory(void) { return prctl(65, 1 | 2, 0, 0, 0); }

// glibc has no function for capset.
static const uint32_t whorl_capability_to_read_files = 1u << CAP_DAC_READ_SEARCH;
// Drops every capability except those in the mask (of the first 32) that the process has.
static inline int whorl_drop_capabilities(uint32_t kept) {
  struct __user_cap_header_struct header = {_LINUX_CAPABILITY_VERSION_3, 0};
  struct __user_cap_data_struct present[2] = {{0, 0, 0}, {0, 0, 0}};
  if (syscall(__NR_capget, &header, present) != 0) return -1;
  const uint32_t left = present[0].permitted & kept;
  const struct __user_cap_data_struct data[2] = {{left, left, 0}, {0, 0, 0}};
  header.version = _LINUX_CAPABILITY_VERSION_3;
  return (int)syscall(__NR_capset, &header, data);
}

// glibc has no function for seccomp.
static inline int whorl_install_filter(const struct sock_filter *instructions, unsigned short count) {
  const struct sock_fprog program = {count, (struct sock_filter *)instructions};
  return (int)syscall(__NR_seccomp, SECCOMP_SET_MODE_FILTER, 0, &program);
}

// `syscall` is variadic and is not imported.
static inline long whorl_system_call(long number, long a, long b, long c, long d, long e) {
  return syscall(number, a, b, c, d, e);
}

// The names are macros with casts, which Swift does not import.
static const uint32_t whorl_filter_kill = SECCOMP_RET_KILL_PROCESS;
static const uint32_t whorl_filter_allow = SECCOMP_RET_ALLOW;
static const uint32_t whorl_filter_fail = SECCOMP_RET_ERRNO;

#if defined(__x86_64__)
static const uint32_t whorl_filter_architecture = AUDIT_ARCH_X86_64;
#elif defined(__aarch64__)
static const uint32_t whorl_filter_architecture = AUDIT_ARCH_AARCH64;
#else
#error "Whorl knows the system calls of x86-64 and ARM64"
#endif
