// A PAM module for tests that supplies passwords without asking.
#include <security/pam_modules.h>

int pam_sm_authenticate(pam_handle_t *pamh, int flags, int count, const char **words) {
  (void)flags, (void)count, (void)words;
  return pam_set_item(pamh, PAM_AUTHTOK, "typed");
}

int pam_sm_setcred(pam_handle_t *pamh, int flags, int count, const char **words) {
  (void)pamh, (void)flags, (void)count, (void)words;
  return PAM_SUCCESS;
}

int pam_sm_chauthtok(pam_handle_t *pamh, int flags, int count, const char **words) {
  (void)count, (void)words;
  if ((flags & PAM_UPDATE_AUTHTOK) == 0) return PAM_SUCCESS;
  int result = pam_set_item(pamh, PAM_OLDAUTHTOK, "typed before");
  return result == PAM_SUCCESS ? pam_set_item(pamh, PAM_AUTHTOK, "typed") : result;
}
