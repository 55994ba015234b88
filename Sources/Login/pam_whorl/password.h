// Keeps a password from the auth phase of a login to its session phase, and passes it to the service.
#ifndef WHORL_PASSWORD_H
#define WHORL_PASSWORD_H

#include <security/pam_modules.h>
#include <stddef.h>

// A page of memory for something typed: left out of core dumps, empty in forked processes, and locked if the system
// allows it. PAM's own limit for typed text (PAM_MAX_RESP_SIZE) is smaller.
enum { whorl_page_size = 4096 };

// A page of zeros, or NULL. whorl_page_wipe wipes and frees it.
char *whorl_page_make(void);

void whorl_page_wipe(char *page);

// Keeps what the person typed until the session phase, or until the PAM transaction ends. It has a page of its
// own.
void whorl_password_keep(pam_handle_t *pamh, const char *password);

// The kept password; NULL if there is none. It is wiped by whorl_password_forget.
const char *whorl_password_kept(pam_handle_t *pamh);

void whorl_password_forget(pam_handle_t *pamh);

// A sealed memory file with the password in it, or a negative errno. The caller closes it.
int whorl_password_file(const char *password);

#endif
