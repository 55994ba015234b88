// Asks for a finger or the password at once, in polkit's helper.
//
// The helper's conversation writes the prompt for the agent, which shows it in a dialog, and waits for a line on
// descriptor 0. A thread of this module stands between: it passes the line on through a pipe, and when a finger matches
// it passes on an empty one, so that the conversation returns. It is no second conversation that would have to be killed.
#ifndef WHORL_AT_DIALOG_H
#define WHORL_AT_DIALOG_H

#include <security/pam_modules.h>

#include "service.h"

// Like whorl_at_terminal. -ENOTTY if the thread could not be started, so that nothing was asked. Where the agent does not show
// the prompt, a message names the reader.
int whorl_at_dialog(pam_handle_t *pamh, const whorl_login *login, int shows_prompt, whorl_outcome *outcome);

#endif
