// Unlocks a screen as a screen locker does: as its user, through PAM, once.
//
// usage: locker SERVICE PASSWORD
//
// Each prompt is answered with PASSWORD, which was typed before PAM began, and may be empty. Prints each message, and then
// "let in", or "refused" and the number of PAM's result.
#include <pwd.h>
#include <security/pam_appl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static int converse(int count, const struct pam_message **shown, struct pam_response **answers, void *password) {
  *answers = calloc((size_t)count, sizeof **answers);
  if (*answers == NULL) return PAM_BUF_ERR;
  for (int index = 0; index < count; index++) {
    printf("%s\n", shown[index]->msg);
    if (shown[index]->msg_style == PAM_PROMPT_ECHO_OFF) (*answers)[index].resp = strdup(password);
  }
  return PAM_SUCCESS;
}

int main(int count, char **words) {
  const struct passwd *account = getpwuid(getuid());
  if (count != 3 || account == NULL) return 64;
  setvbuf(stdout, NULL, _IOLBF, 0);
  const struct pam_conv conversation = {.conv = converse, .appdata_ptr = words[2]};
  pam_handle_t *pamh = NULL;
  int result = pam_start(words[1], account->pw_name, &conversation, &pamh);
  if (result == PAM_SUCCESS) result = pam_authenticate(pamh, 0);
  if (result == PAM_SUCCESS) result = pam_setcred(pamh, PAM_REFRESH_CRED);
  pam_end(pamh, result);
  if (result == PAM_SUCCESS)
    printf("let in\n");
  else
    printf("refused %d\n", result);
  return result == PAM_SUCCESS ? 0 : 1;
}
