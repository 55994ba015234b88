// Makes the service ask the person for a finger.
#ifndef WHORL_VERIFY_H
#define WHORL_VERIFY_H

#include <pwd.h>
#include <security/pam_modules.h>

// PAM_SUCCESS if the service has matched an enrolled finger of the user in this call, PAM_AUTH_ERR if no touch matched,
// PAM_AUTHINFO_UNAVAIL otherwise. Where the program is
// known, the password is asked for at the same time, unless IS_SERIAL; a typed one is in PAM_AUTHTOK afterwards.
int whorl_verify(pam_handle_t *pamh, const struct passwd *account, int is_greeter, int is_serial);

#endif
