#include "verify.h"

#include <errno.h>
#include <security/pam_ext.h>
#include <string.h>
#include <syslog.h>

#include "connection.h"
#include "interrupt.h"
#include "service.h"

enum {
  // The longest wait for the reader to become ready (the service itself gives up after ten seconds), and the time after
  // which the person is told of the wait.
  reader_milliseconds = 15000,
  silent_milliseconds = 1500,
  // For each touch. The service itself ends the wait after ten seconds.
  touch_milliseconds = 10500,
  // For all touches together.
  whole_milliseconds = 30000,
};
// The limit for unreadable touches: the service ends a request after far fewer touches that do not match.
enum { most_prompts = 20 };

static const char *text(const void *item) { return item == NULL ? "" : item; }

static whorl_login describe(pam_handle_t *pamh, const struct passwd *account, int is_greeter) {
  const void *service = NULL, *terminal = NULL;
  if (pam_get_item(pamh, PAM_SERVICE, &service) != PAM_SUCCESS) service = NULL;
  if (pam_get_item(pamh, PAM_TTY, &terminal) != PAM_SUCCESS) terminal = NULL;
  whorl_login login = {
    .user = account->pw_uid, .is_greeter = is_greeter, .pam_service = text(service),
    .seat = text(pam_getenv(pamh, "XDG_SEAT")), .terminal = text(terminal)};
  return login;
}

// The prompt before a touch; NULL for an outcome that wants no touch.
static const char *prompt(whorl_outcome outcome) {
  switch (outcome) {
    case whorl_touch: return "Touch the fingerprint reader.";
    case whorl_retry: return "The touch could not be read. Touch the fingerprint reader again.";
    case whorl_other_finger: return "No match. Touch the fingerprint reader again.";
    case whorl_swipe: return "Swipe the fingerprint reader.";
    case whorl_retry_swipe: return "The swipe could not be read. Swipe the fingerprint reader again.";
    case whorl_other_finger_swipe: return "No match. Swipe the fingerprint reader again.";
    default: return NULL;
  }
}

// A login by finger, from the call to the result.
typedef struct {
  pam_handle_t *pamh;
  sd_bus *bus;
  // For the first answer, and for all of it.
  whorl_deadline answer, end;
  int is_told;
} asking;

// Says once what is waited for.
static void tell(asking *asking) {
  if (!asking->is_told) pam_info(asking->pamh, "Waiting for the fingerprint reader.");
  asking->is_told = 1;
}

// Waits for the reader to become ready. The person is told if that takes long, as where its program has to be started.
static int wait_for_reader(asking *asking, whorl_answer *answer, whorl_deadline deadline, whorl_outcome *outcome) {
  whorl_deadline silent = whorl_deadline_in(silent_milliseconds);
  silent.interrupt = deadline.interrupt;
  int result = whorl_service_wait(asking->bus, answer, silent, outcome);
  if (result != -ETIMEDOUT) return result;
  tell(asking);
  return whorl_service_wait(asking->bus, answer, deadline, outcome);
}

// Asks for a finger, and waits for the first answer.
static int begin(asking *asking, const whorl_login *login, whorl_outcome *outcome) {
  whorl_answer answer;
  int result = whorl_service_verify(asking->bus, login, &answer);
  if (result >= 0) result = whorl_service_wait(asking->bus, &answer, asking->answer, outcome);
  if (result == -ETIMEDOUT && whorl_service_has_just_started(&asking->answer)) {
    tell(asking);
    result = whorl_service_wait(asking->bus, &answer, asking->answer, outcome);
  }
  whorl_service_forget(&answer);
  return result;
}

// Asks for what follows the outcome, and waits for that.
static int next(asking *asking, whorl_outcome *outcome) {
  int is_trying = *outcome == whorl_trying;
  whorl_deadline deadline = whorl_deadline_in(is_trying ? reader_milliseconds : touch_milliseconds);
  if (deadline.microseconds > asking->end.microseconds) deadline = asking->end;
  deadline.interrupt = asking->end.interrupt;
  whorl_answer answer;
  int result = whorl_service_next(asking->bus, &answer);
  if (result >= 0)
    result = is_trying ? wait_for_reader(asking, &answer, deadline, outcome)
                       : whorl_service_wait(asking->bus, &answer, deadline, outcome);
  whorl_service_forget(&answer);
  return result;
}

// Shows the prompts that the service asks for until it returns a final result.
static int ask(asking *asking, const whorl_login *login, whorl_outcome *outcome) {
  asking->end = whorl_deadline_in(whole_milliseconds);
  asking->end.interrupt = asking->answer.interrupt;
  unsigned prompts = 0;
  int result = begin(asking, login, outcome);
  while (result >= 0 && (*outcome == whorl_trying || prompt(*outcome) != NULL)) {
    // Shown with PAM_SILENT, too: without a prompt nobody would touch the reader, so it must not be armed.
    if (*outcome != whorl_trying &&
        (prompts++ == most_prompts || pam_info(asking->pamh, "%s", prompt(*outcome)) != PAM_SUCCESS))
      return -ENOTTY;
    result = next(asking, outcome);
    if (result >= 0 && *outcome == whorl_trying) return -EBADMSG;
  }
  // A match without a prompt cannot be true.
  return result >= 0 && *outcome == whorl_verified && prompts == 0 ? -EBADMSG : result;
}

int whorl_verify(pam_handle_t *pamh, const struct passwd *account, int is_greeter) {
  whorl_login login = describe(pamh, account, is_greeter);
  whorl_outcome outcome = whorl_no_finger;
  asking asking = {.pamh = pamh};
  whorl_interrupt interrupt = whorl_interrupt_begin();
  int result = whorl_service_connect(account->pw_uid, interrupt.descriptor, &asking.answer, &asking.bus);
  if (result == -EINPROGRESS) {
    tell(&asking);
    result = whorl_service_start(&asking.answer, asking.bus);
  }
  if (result >= 0) {
    result = ask(&asking, &login, &outcome);
    // Closing the connection has the service disarm the reader.
    whorl_close(asking.bus);
  }
  whorl_interrupt_end(interrupt);
  if (result < 0) {
    // Log nothing if the service is not installed or the person pressed Ctrl-C.
    if (result != -ENOENT && result != -EINTR)
      pam_syslog(pamh, LOG_WARNING, "no finger was asked for: %s", strerror(-result));
    return PAM_AUTHINFO_UNAVAIL;
  }
  switch (outcome) {
    case whorl_verified: return PAM_SUCCESS;
    case whorl_no_match: pam_error(pamh, "The fingerprint does not match."); return PAM_AUTH_ERR;
    case whorl_locked_out:
      pam_error(pamh, "Fingers are locked after too many wrong touches. Type your password.");
      return PAM_AUTHINFO_UNAVAIL;
    default: return PAM_AUTHINFO_UNAVAIL;
  }
}
