// pam_whorl.so: tells Whorl's service of logins and of changed passwords, and asks it for a finger (docs/login.md).
//
// An auth line with `verify` returns PAM_SUCCESS only if whorl_verify does: the service has matched a finger.
// Everything else returns PAM_IGNORE, or in the auth phase PAM_AUTHINFO_UNAVAIL or PAM_AUTH_ERR, even if the service
// fails. The module sees no stored secret. It puts into PAM_AUTHTOK only what a person types at its own prompt, for the
// module after it.
#include <errno.h>
#include <security/pam_ext.h>
#include <security/pam_modules.h>
#include <security/pam_modutil.h>
#include <stdio.h>
#include <string.h>
#include <syslog.h>
#include <unistd.h>

#include "child.h"
#include "connection.h"
#include "language.h"
#include "options.h"
#include "password.h"
#include "service.h"
#include "shadow.h"
#include "verify.h"

#define EXPORTED __attribute__((visibility("default")))

// The longest waits for scrypt while the service tries a passcode: it runs once at a login, twice for a new passcode.
enum { login_milliseconds = 3000, change_milliseconds = 8000 };
enum { child_milliseconds = 2000 };

// The account of the user of this transaction; NULL for root, and in a program that is neither root's nor this user's own.
static struct passwd *person(pam_handle_t *pamh) {
  const void *name = NULL;
  // Not pam_get_user, which would ask for a name that is not known yet.
  if (pam_get_item(pamh, PAM_USER, &name) != PAM_SUCCESS || name == NULL) return NULL;
  struct passwd *account = pam_modutil_getpwnam(pamh, name);
  if (account == NULL || account->pw_uid == 0) return NULL;
  if (geteuid() == 0) return account;
  return geteuid() == account->pw_uid && getuid() == account->pw_uid ? account : NULL;
}

static void note(pam_handle_t *pamh, const char *what, int result) {
  // The service is not installed: log nothing.
  if (result == -ENOENT) return;
  pam_syslog(pamh, LOG_WARNING, "%s: %s", what, strerror(-result));
}

// Connects to the service, which is started where it does not run.
static int reach(const struct passwd *account, whorl_deadline *deadline, sd_bus **bus) {
  int result = whorl_service_connect(account->pw_uid, NULL, deadline, bus);
  return result == -EINPROGRESS ? whorl_service_start(deadline, *bus) : result;
}

// MARK: The auth phase

// Whether the password would open the user's store and a finger would not.
static int wants_password(pam_handle_t *pamh) {
  const struct passwd *account = person(pamh);
  if (account == NULL) return 0;
  whorl_deadline deadline;
  sd_bus *bus = NULL;
  whorl_outcome outcome = whorl_any;
  int result = reach(account, &deadline, &bus);
  if (result >= 0) {
    result = whorl_service_first_factor(bus, account->pw_uid, deadline, &outcome);
    whorl_close(bus);
  }
  if (result < 0) note(pamh, "the service was not asked what opens the store", result);
  return result >= 0 && outcome == whorl_password;
}

static const char verified[] = "whorl_verified";

// Asks for a finger, unless a password has been typed already or the login is remote.
static int verify(pam_handle_t *pamh, int is_serial) {
  const void *password = NULL, *host = NULL;
  // A password has been typed already.
  if (pam_get_item(pamh, PAM_AUTHTOK, &password) == PAM_SUCCESS && password != NULL) return PAM_IGNORE;
  if (pam_get_item(pamh, PAM_RHOST, &host) != PAM_SUCCESS || (host != NULL && *(const char *)host != '\0'))
    return PAM_AUTHINFO_UNAVAIL;
  const char *name = NULL;
  // Asks for the user's name if it is not known yet, as every auth module does.
  if (pam_get_user(pamh, &name, NULL) != PAM_SUCCESS) return PAM_AUTHINFO_UNAVAIL;
  const struct passwd *account = person(pamh);
  if (account == NULL) return PAM_AUTHINFO_UNAVAIL;
  // Plasma runs the stack once more after a match, before it ends: it would wait for that.
  const void *data = NULL;
  if (geteuid() != 0 && is_serial && pam_get_data(pamh, verified, &data) == PAM_SUCCESS && data != NULL)
    return PAM_AUTH_ERR;
  int result = geteuid() == 0 ? whorl_verify(pamh, account, whorl_is_greeter(pamh), is_serial)
                              : whorl_verify_unlock(pamh, account, is_serial);
  // For pam_sm_setcred.
  if (result == PAM_SUCCESS && pam_set_data(pamh, verified, (void *)verified, NULL) != PAM_SUCCESS)
    return PAM_AUTHINFO_UNAVAIL;
  return result;
}

// Without an option, after the modules that ask for a password: keeps it for the session phase. With `first-password`,
// before a module that asks for a finger: PAM_AUTHINFO_UNAVAIL while a finger would not be enough. With `verify`,
// before the modules that ask for a password: asks for a finger itself. This is all that it does in a program that does
// not run as root, such as a screen locker.
EXPORTED int pam_sm_authenticate(pam_handle_t *pamh, int flags, int count, const char **words) {
  (void)flags;
  whorl_options options = whorl_options_read(pamh, count, words);
  if (!whorl_serves(pamh, options)) return PAM_IGNORE;
  if (options.verify) return verify(pamh, options.serial);
  if (geteuid() != 0) return PAM_IGNORE;
  if (options.first_password) return wants_password(pamh) ? PAM_AUTHINFO_UNAVAIL : PAM_IGNORE;
  const void *password = NULL;
  if (pam_get_item(pamh, PAM_AUTHTOK, &password) == PAM_SUCCESS && password != NULL)
    whorl_password_keep(pamh, password);
  return PAM_IGNORE;
}

// There are no credentials to set. In a stack where a finger was the only factor no other module succeeds here, so this
// one must.
EXPORTED int pam_sm_setcred(pam_handle_t *pamh, int flags, int count, const char **words) {
  (void)flags;
  const void *data = NULL;
  int is_verified = pam_get_data(pamh, verified, &data) == PAM_SUCCESS && data != NULL;
  return is_verified && whorl_options_read(pamh, count, words).verify ? PAM_SUCCESS : PAM_IGNORE;
}

// MARK: The session phase

static int tell_of_login(
  pam_handle_t *pamh, const struct passwd *account, const char *session, whorl_outcome *outcome
) {
  const void *service = NULL;
  if (pam_get_item(pamh, PAM_SERVICE, &service) != PAM_SUCCESS || service == NULL) return -EINVAL;
  whorl_deadline deadline;
  sd_bus *bus = NULL;
  int result = reach(account, &deadline, &bus);
  if (result < 0) return result;
  result = whorl_service_open_session(
    bus, account->pw_uid, session, service, whorl_password_kept(pamh), deadline, login_milliseconds, outcome);
  whorl_close(bus);
  return result;
}

static void hand_over(pam_handle_t *pamh, const struct passwd *account) {
  const char *runtime = pam_getenv(pamh, "XDG_RUNTIME_DIR");
  char usual[64];
  if (runtime == NULL) {
    snprintf(usual, sizeof usual, "/run/user/%u", (unsigned)account->pw_uid);
    runtime = usual;
  }
  int result = whorl_child_run(account, runtime, whorl_deadline_in(child_milliseconds));
  if (result < 0) note(pamh, "handing the secrets of the login over", result);
  if (result > 0) pam_syslog(pamh, LOG_WARNING, "handing the secrets of the login over: status %d", result);
}

// Says at a console that the login has opened nothing. Not in greeters, which show messages too briefly or wait for a
// confirmation; on a desktop whorl-login-question.service asks.
static void tell_of_password(pam_handle_t *pamh, int flags) {
  const void *service = NULL;
  if (flags & PAM_SILENT || pam_get_item(pamh, PAM_SERVICE, &service) != PAM_SUCCESS || service == NULL ||
      strcmp(service, "login") != 0)
    return;
  pam_info(
    pamh, "%s",
    whorl_text(
      "Your login password does not open Whorl's store any more; 'whorl login enable passcode' changes that."));
}

// After pam_systemd.
EXPORTED int pam_sm_open_session(pam_handle_t *pamh, int flags, int count, const char **words) {
  const char *session = pam_getenv(pamh, "XDG_SESSION_ID");
  const struct passwd *account = NULL;
  if (session != NULL && geteuid() == 0 && whorl_serves(pamh, whorl_options_read(pamh, count, words)))
    account = person(pamh);
  if (account != NULL) {
    whorl_outcome outcome = whorl_closed;
    int result = tell_of_login(pamh, account, session, &outcome);
    if (result < 0)
      note(pamh, "the service was not told of the login", result);
    else if (outcome == whorl_open)
      hand_over(pamh, account);
    else if (outcome == whorl_not_passcode)
      tell_of_password(pamh, flags);
  }
  whorl_password_forget(pamh);
  return PAM_IGNORE;
}

EXPORTED int pam_sm_close_session(pam_handle_t *pamh, int flags, int count, const char **words) {
  (void)pamh, (void)flags, (void)count, (void)words;
  return PAM_IGNORE;
}

// MARK: The password phase

static void tell_person(pam_handle_t *pamh, int flags, whorl_outcome outcome) {
  if (flags & PAM_SILENT) return;
  switch (outcome) {
    case whorl_changed:
      pam_info(pamh, "%s", whorl_text("The new password is the passcode of Whorl, too."));
      break;
    case whorl_kept:
      pam_info(
        pamh, "%s",
        whorl_text("Whorl's passcode was not changed; 'whorl passcode' changes it to the new password."));
      break;
    case whorl_unfit:
      pam_info(pamh, "%s", whorl_text("The new password cannot be Whorl's passcode, which was not changed."));
      break;
    default: break;
  }
}

// After the module that changes the password, which may have failed: PAM's second pass runs all lines of the first one.
EXPORTED int pam_sm_chauthtok(pam_handle_t *pamh, int flags, int count, const char **words) {
  (void)count, (void)words;
  const void *old = NULL, *new = NULL;
  const struct passwd *account = flags & PAM_UPDATE_AUTHTOK && geteuid() == 0 ? person(pamh) : NULL;
  if (account == NULL || pam_get_item(pamh, PAM_AUTHTOK, &new) != PAM_SUCCESS || new == NULL ||
      pam_get_item(pamh, PAM_OLDAUTHTOK, &old) != PAM_SUCCESS)
    return PAM_IGNORE;
  if (!whorl_is_password(pam_modutil_getspnam(pamh, account->pw_name), new)) {
    pam_syslog(pamh, LOG_NOTICE, "the password was not changed, and the passcode stays");
    return PAM_IGNORE;
  }
  whorl_deadline deadline;
  sd_bus *bus = NULL;
  whorl_outcome outcome = whorl_not_chosen;
  int result = reach(account, &deadline, &bus);
  if (result >= 0) {
    result =
      whorl_service_change_password(bus, account->pw_uid, old, new, deadline, change_milliseconds, &outcome);
    whorl_close(bus);
  }
  if (result < 0)
    note(pamh, "the service was not told of the new password", result);
  else
    tell_person(pamh, flags, outcome);
  return PAM_IGNORE;
}
