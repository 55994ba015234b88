// Keeps a password from the auth phase of a login to its session phase, and passes it to the service.
#ifndef WHORL_PASSWORD_H
#define WHORL_PASSWORD_H

#include <security/pam_modules.h>
#include <stddef.h>

// Keeps what the person typed until the session phase, or until the PAM transaction ends. It has a memory page of its
// own: left out of core dumps, empty in forked processes, and locked if the system allows it.
void whorl_password_keep(pam_handle_t *pamh, const char *password);

// The kept password; NULL if there is none. It is wiped by whorl_password_forget.
const char *whorl_password_kept(pam_handle_t *pamh);

void whorl_password_forget(pam_handle_t *pamh);

// A sealed memory file with the password in it, or a negative errno. The caller closes it.
int whorl_password_file(const char *password);

#endif
