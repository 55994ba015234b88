// Makes the service ask the person for a finger.
#ifndef WHORL_VERIFY_H
#define WHORL_VERIFY_H

#include <pwd.h>
#include <security/pam_modules.h>

// PAM_SUCCESS if the service has matched an enrolled finger of the user in this call, PAM_AUTH_ERR if no touch matched,
// PAM_AUTHINFO_UNAVAIL otherwise. Where the program is
// known, the password is asked for at the same time, unless IS_SERIAL; a typed one is in PAM_AUTHTOK afterwards.
int whorl_verify(pam_handle_t *pamh, const struct passwd *account, int is_greeter, int is_serial);

// The same in a program that runs as the user, such as a screen locker: PAM begins there when a password was typed, often.
// So the program is asked for the password first, and the person for a finger only if it is empty. IS_FINGER_ALONE: for a
// finger alone, where the program asks for the password in another stack at the same time.
int whorl_verify_unlock(pam_handle_t *pamh, const struct passwd *account, int is_finger_alone);

#endif
