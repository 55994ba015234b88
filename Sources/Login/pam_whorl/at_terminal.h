// Asks for a finger or the password at once, at the terminal.
//
// The module reads the terminal itself, beside the service's answer. PAM's own conversation could not be ended when a
// finger matches.
#ifndef WHORL_AT_TERMINAL_H
#define WHORL_AT_TERMINAL_H

#include "program.h"
#include "service.h"

// Returns 0 or a negative errno: -ENOTTY if nothing could be shown, so that nothing was asked; -EINTR if the person typed
// or a signal ended it. A typed password is in PAM_AUTHTOK then. OUTCOME is whorl_verified only with the result 0.
int whorl_at_terminal(
  pam_handle_t *pamh, const whorl_program *program, const whorl_login *login, whorl_outcome *outcome);

#endif
