#include "verify.h"

#include <errno.h>
#include <security/pam_ext.h>
#include <string.h>
#include <syslog.h>
#include <unistd.h>

#include "at_dialog.h"
#include "at_terminal.h"
#include "interrupt.h"
#include "language.h"
#include "program.h"
#include "service.h"
#include "touch.h"

static const char *text(const void *item) { return item == NULL ? "" : item; }

static whorl_login describe(
  pam_handle_t *pamh, const struct passwd *account, int is_greeter, const whorl_program *program
) {
  const void *service = NULL, *terminal = NULL;
  if (pam_get_item(pamh, PAM_SERVICE, &service) != PAM_SUCCESS) service = NULL;
  if (pam_get_item(pamh, PAM_TTY, &terminal) != PAM_SUCCESS) terminal = NULL;
  whorl_login login = {
    .user = account->pw_uid, .is_greeter = is_greeter, .pam_service = text(service),
    .seat = text(pam_getenv(pamh, "XDG_SEAT")), .terminal = text(terminal),
    .agent = program->agent};
  return login;
}

// The prompt before a touch; NULL for an outcome that wants no touch.
static const char *prompt(whorl_outcome outcome) {
  switch (outcome) {
    case whorl_touch: return whorl_text("Touch the fingerprint reader.");
    case whorl_retry: return whorl_text("The touch could not be read. Touch the fingerprint reader again.");
    case whorl_other_finger: return whorl_text("No match. Touch the fingerprint reader again.");
    case whorl_swipe: return whorl_text("Swipe the fingerprint reader.");
    case whorl_retry_swipe: return whorl_text("The swipe could not be read. Swipe the fingerprint reader again.");
    case whorl_other_finger_swipe: return whorl_text("No match. Swipe the fingerprint reader again.");
    default: return NULL;
  }
}

// MARK: One question after the other

static int show(void *pamh, whorl_outcome outcome) {
  // Shown with PAM_SILENT, too.
  return pam_info(pamh, "%s", prompt(outcome)) == PAM_SUCCESS ? 0 : -ENOTTY;
}

static void tell(void *pamh) { pam_info(pamh, "%s", whorl_text("Waiting for the fingerprint reader.")); }

// Asks for a finger alone; the next module asks for the password. Ctrl-C ends the wait.
static int serially(pam_handle_t *pamh, const whorl_login *login, whorl_outcome *outcome) {
  whorl_interrupt interrupt = whorl_interrupt_begin();
  const whorl_watch watch = {.descriptors = {interrupt.descriptor, -1}};
  const whorl_touching touching = {.show = show, .tell = tell, .data = pamh, .watch = &watch};
  int result = whorl_touch_ask(&touching, login, outcome);
  whorl_interrupt_end(interrupt);
  if (result < 0) return result;
  if (*outcome == whorl_no_match) pam_error(pamh, "%s", whorl_text("The fingerprint does not match."));
  if (*outcome == whorl_locked_out)
    pam_error(pamh, "%s", whorl_text("Fingers are locked after too many wrong touches. Type your password."));
  return result;
}

static int result_of(pam_handle_t *pamh, int result, whorl_outcome outcome) {
  if (result < 0) {
    // Log nothing if the person typed or pressed Ctrl-C.
    if (result != -EINTR) pam_syslog(pamh, LOG_WARNING, "no finger was asked for: %s", strerror(-result));
    return PAM_AUTHINFO_UNAVAIL;
  }
  switch (outcome) {
    case whorl_verified: return PAM_SUCCESS;
    case whorl_no_match: return PAM_AUTH_ERR;
    default: return PAM_AUTHINFO_UNAVAIL;
  }
}

int whorl_verify(pam_handle_t *pamh, const struct passwd *account, int is_greeter, int is_serial) {
  if (!whorl_service_is_installed()) return PAM_AUTHINFO_UNAVAIL;
  whorl_program program = whorl_program_read(pamh);
  whorl_login login = describe(pamh, account, is_greeter, &program);
  whorl_outcome outcome = whorl_no_finger;
  int result = -ENOTTY;
  if (!is_serial && program.kind == whorl_program_at_terminal)
    result = whorl_at_terminal(pamh, &program, &login, &outcome);
  else if (!is_serial && program.kind != whorl_program_other)
    result = whorl_at_dialog(pamh, &login, program.kind == whorl_program_of_polkit, &outcome);
  if (result == -ENOTTY) result = serially(pamh, &login, &outcome);
  if (program.agent >= 0) close(program.agent);
  return result_of(pamh, result, outcome);
}

// MARK: At a lock screen

int whorl_verify_unlock(pam_handle_t *pamh, const struct passwd *account, int is_finger_alone) {
  if (!whorl_service_is_installed()) return PAM_AUTHINFO_UNAVAIL;
  const char *typed = NULL;
  // What was typed stays in PAM_AUTHTOK for the next module.
  if (!is_finger_alone && (pam_get_authtok(pamh, PAM_AUTHTOK, &typed, NULL) != PAM_SUCCESS || *typed != '\0'))
    return PAM_AUTHINFO_UNAVAIL;
  const whorl_program program = {.agent = -1};
  whorl_login login = describe(pamh, account, 0, &program);
  whorl_outcome outcome = whorl_no_finger;
  int result = serially(pamh, &login, &outcome);
  // After PAM_AUTHINFO_UNAVAIL, Plasma asks for no finger until the next lock. But a closed lid is opened, and a person who
  // has not touched may do so later.
  if (result >= 0 && is_finger_alone && outcome != whorl_verified && outcome != whorl_no_store) return PAM_AUTH_ERR;
  return result_of(pamh, result, outcome);
}
