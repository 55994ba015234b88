// Runs the program that hands over a login's secrets, as the user who logs in.
#ifndef WHORL_CHILD_H
#define WHORL_CHILD_H

#include <pwd.h>

#include "deadline.h"

// Runs `whorl login open --at-login` as the user, with RUNTIME as its XDG_RUNTIME_DIR, and waits for it. Kills it and
// all that it has started when the deadline has passed. Returns its exit status, or a negative errno.
int whorl_child_run(const struct passwd *user, const char *runtime, whorl_deadline deadline);

#endif
