#pragma once
#include <signal.h>
#include <sys/eventfd.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <time.h>

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
