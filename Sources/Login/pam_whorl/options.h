// The options on the module's line in a PAM file.
#ifndef WHORL_OPTIONS_H
#define WHORL_OPTIONS_H

#include <security/pam_modules.h>

typedef struct {
  // The PAM services that the module acts for, separated by commas.
  const char *services;
  // On an auth line: whether it makes users type the password if a finger would not open their store.
  int first_password;
  // On an auth line: whether the module asks for a finger itself.
  int verify;
  // With `verify`: whether it asks for nothing but the finger, also where it could ask for the password at once.
  int serial;
} whorl_options;

// Reads the options of a line: `services=NAME,NAME,...`, `first-password`, `verify` and
// `serial`.
whorl_options whorl_options_read(pam_handle_t *pamh, int count, const char **words);

// Whether the module acts for the PAM service of this transaction.
int whorl_serves(pam_handle_t *pamh, whorl_options options);

// Whether the PAM service of this transaction is a login screen or console login.
int whorl_is_greeter(pam_handle_t *pamh);

#endif
