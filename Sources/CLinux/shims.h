#pragma once
#include <sys/eventfd.h>
#include <sys/prctl.h>
#include <sys/resource.h>

// `prctl` is variadic and is not imported.
static inline int whorl_refuse_inspection(void) { return prctl(PR_SET_DUMPABLE, 0, 0, 0, 0); }

// The resource names are an enumeration that Swift does not take for the `int` the calls want.
static inline int whorl_get_core_limit(struct rlimit *limit) { return getrlimit(RLIMIT_CORE, limit); }
static inline int whorl_set_core_limit(const struct rlimit *limit) { return setrlimit(RLIMIT_CORE, limit); }
