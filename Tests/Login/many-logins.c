// Logs in repeatedly through the PAM files of a folder, and checks each outcome.
//
// usage: many-logins FOLDER COUNT in|out
//
// Its name may be that of a program at whose prompts the module asks at once (su, polkit-agent-helper-1). A password is
// read from standard input as polkit's helper does.
//
// Uses the folder's services in turn: finger (a login by finger), login (one by password), passwd. With `in` every
// login by finger must succeed, with `out` none. Status 1 means a wrong outcome or a descriptor left open; SIGALRM
// means a login that exceeded the module's own limit.
#include <dirent.h>
#include <security/pam_appl.h>
#include <sanitizer/lsan_interface.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

// More than the module's longest limit: that of all touches together, and then of a line that somebody has begun.
enum { limit_seconds = 75, leak_check_interval = 200 };

static unsigned messages;

static int converse(int count, const struct pam_message **shown, struct pam_response **answers, void *data) {
  (void)data;
  *answers = calloc((size_t)count, sizeof **answers);
  if (*answers == NULL) return PAM_BUF_ERR;
  for (int index = 0; index < count; index++) {
    char line[512];
    // Two threads may be here.
    if (shown[index]->msg_style == PAM_TEXT_INFO || shown[index]->msg_style == PAM_ERROR_MSG)
      __atomic_add_fetch(&messages, 1, __ATOMIC_RELAXED);
    else if (fgets(line, sizeof line, stdin) != NULL)
      (*answers)[index].resp = strdup(line);
  }
  return PAM_SUCCESS;
}

static unsigned descriptors(void) {
  DIR *folder = opendir("/proc/self/fd");
  unsigned count = 0;
  while (folder != NULL && readdir(folder) != NULL) count++;
  if (folder != NULL) closedir(folder);
  return count;
}

// The outcome of one login, password change, or login by finger.
static int run(const char *folder, const char *service) {
  const struct pam_conv conversation = {.conv = converse};
  pam_handle_t *pamh = NULL;
  int result = pam_start_confdir(service, "nobody", &conversation, folder, &pamh);
  if (result != PAM_SUCCESS) {
    fprintf(stderr, "pam_start: %d\n", result);
    exit(1);
  }
  pam_putenv(pamh, "XDG_SESSION_ID=c1");
  if (strcmp(service, "passwd") == 0) {
    result = pam_chauthtok(pamh, 0);
  } else {
    result = pam_authenticate(pamh, 0);
    if (strcmp(service, "login") == 0 && result == PAM_SUCCESS) result = pam_open_session(pamh, 0);
  }
  pam_end(pamh, result);
  return result;
}

int main(int count, char **words) {
  if (count != 4) return 2;
  static const char *const services[] = {"finger", "finger", "login", "passwd"};
  int expects_in = strcmp(words[3], "in") == 0;
  unsigned long runs = strtoul(words[2], NULL, 10), refused = 0;
  // Some descriptors, such as the connection to the journal, are opened once and stay open.
  for (size_t index = 0; index < 4; index++) {
    alarm(limit_seconds);
    run(words[1], services[index]);
  }
  unsigned before = descriptors();
  for (unsigned long number = 0; number < runs; number++) {
    const char *service = expects_in ? "finger" : services[number % 4];
    alarm(limit_seconds);
    int result = run(words[1], service);
    alarm(0);
    int is_in = result == PAM_SUCCESS;
    if (strcmp(service, "finger") == 0 && is_in != expects_in) {
      fprintf(stderr, "login %lu by finger: %s\n", number, pam_strerror(NULL, result));
      return 1;
    }
    // The call after the password reports an outcome, but prevents no login.
    if (strcmp(service, "finger") != 0 && !is_in) {
      fprintf(stderr, "%s %lu: %s\n", service, number, pam_strerror(NULL, result));
      return 1;
    }
    refused += !is_in;
    if (descriptors() != before) {
      fprintf(stderr, "%s %lu: %u descriptors instead of %u\n", service, number, descriptors(), before);
      return 1;
    }
    if (number % leak_check_interval == 0 && __lsan_do_recoverable_leak_check() != 0) {
      fprintf(stderr, "%s %lu or before: memory was left\n", service, number);
      return 1;
    }
  }
  printf("%lu logins, %lu refused, %u messages shown\n", runs, refused, messages);
  return 0;
}
