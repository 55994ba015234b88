// Keeps passwords of several lengths with the module's own code, in the place of libpam. Status 1: one of them was kept
// or not kept wrongly.
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../../Sources/Login/pam_whorl/password.h"

static void *kept;
static void (*clean_up)(pam_handle_t *, void *, int);

int pam_set_data(
  pam_handle_t *pamh, const char *name, void *data, void (*cleanup)(pam_handle_t *pamh, void *data, int status)
) {
  (void)name;
  if (kept != NULL && clean_up != NULL) clean_up(pamh, kept, 0);
  kept = data;
  clean_up = cleanup;
  return PAM_SUCCESS;
}

int pam_get_data(const pam_handle_t *pamh, const char *name, const void **data) {
  (void)pamh, (void)name;
  *data = kept;
  return kept == NULL ? PAM_NO_MODULE_DATA : PAM_SUCCESS;
}

int main(void) {
  // The last one that fits into a page with the zero byte at its end has 4095 bytes.
  static const size_t lengths[] = {0, 1, 511, 4095, 4096, 8191, 65536};
  for (size_t index = 0; index < sizeof lengths / sizeof *lengths; index++) {
    size_t length = lengths[index];
    char *password = calloc(1, length + 1);
    if (password == NULL) return 2;
    memset(password, 'p', length);
    whorl_password_forget(NULL);
    whorl_password_keep(NULL, password);
    const char *found = whorl_password_kept(NULL);
    int is_right = length > 0 && length < 4096 ? found != NULL && strcmp(found, password) == 0 : found == NULL;
    free(password);
    if (!is_right) {
      fprintf(stderr, "a password of %zu bytes: %s\n", length, found == NULL ? "not kept" : "kept");
      return 1;
    }
  }
  return 0;
}
