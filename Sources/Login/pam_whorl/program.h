// The program that runs PAM, and how it asks for a password.
#ifndef WHORL_PROGRAM_H
#define WHORL_PROGRAM_H

#include <security/pam_modules.h>

typedef enum {
  // It is not known, or its arguments are not, or it asks in another way than at its terminal.
  whorl_program_other,
  // It reads the password from its terminal: sudo, su, doas, login.
  whorl_program_at_terminal,
  // polkit's helper, which reads it from descriptor 0, for an agent that notices a match while it asks.
  whorl_program_of_polkit,
  // The same, for an agent that shows messages, and a text of its own in the place of the prompt.
  whorl_program_of_polkit_without_prompt,
} whorl_program_kind;

typedef struct {
  whorl_program_kind kind;
  // The prompt for a password alone.
  char prompt[512];
  // Whether that is a prompt of the person's own (sudo -p), which nothing may be added to.
  int is_own_prompt;
  // A pidfd of the agent that polkit's helper works for, if systemd has started the helper; -1 if there is none.
  int agent;
} whorl_program;

// The caller closes `agent`.
whorl_program whorl_program_read(pam_handle_t *pamh);

#endif
