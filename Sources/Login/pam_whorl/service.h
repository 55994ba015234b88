// Calls Whorl's service over its socket. Each step ends by a deadline, whatever the service does.
#ifndef WHORL_SERVICE_H
#define WHORL_SERVICE_H

#include <stdint.h>
#include <sys/types.h>
#include <systemd/sd-bus.h>

#include "deadline.h"

// The answers of org.whorl.Login1 (data/dbus/org.whorl.Login1.xml).
typedef enum {
  // A passcode is being tried, or a finger will be asked for: whorl_service_next returns the result.
  whorl_trying,
  whorl_open,
  whorl_closed,
  // The same, because the password is not the passcode, although the user has chosen that it is.
  whorl_not_passcode,
  whorl_password,
  whorl_any,
  whorl_no_store,
  whorl_changed,
  whorl_not_chosen,
  whorl_kept,
  whorl_unfit,
  // A touch is wanted: the first one, one after an unreadable touch, or one after a touch that did not match.
  whorl_touch,
  whorl_retry,
  whorl_other_finger,
  // The same, for a swipe reader.
  whorl_swipe,
  whorl_retry_swipe,
  whorl_other_finger_swipe,
  // The final results of asking for a finger.
  whorl_verified,
  whorl_no_match,
  whorl_locked_out,
  whorl_no_finger,
} whorl_outcome;

// A program that asks for a person's finger.
typedef struct {
  uid_t user;
  // Whether it is a login program, which belongs to no session before the login. Never for a program that is not root's.
  int is_greeter;
  // Its PAM service name, its seat and its terminal; empty if unknown.
  const char *pam_service, *seat, *terminal;
  // A pidfd of the process that it works for; -1 if it works for itself.
  int agent;
} whorl_login;

// Whether the service is installed; without waiting for anything.
int whorl_service_is_installed(void);

// Connects to the service, and sets the deadline for its first answer, which WATCH (or NULL) ends sooner. Returns 0 or a negative errno: -ENOENT if it is not installed, -EPERM if a user other than root could have made
// the socket or listens on it, -ETIMEDOUT, -EINTR. whorl_close closes the connection. -EINPROGRESS: systemd is starting
// the service, and whorl_service_start waits for it.
int whorl_service_connect(uid_t user, const whorl_watch *watch, whorl_deadline *deadline, sd_bus **bus);

// Waits as long as systemd is starting the service, for some seconds at most, and sets the deadline anew. Closes the
// connection if it fails.
int whorl_service_start(whorl_deadline *deadline, sd_bus *bus);

// Reports a login. PASSWORD may be NULL. If the service tries it as the passcode, waits up to TRYING_MILLISECONDS more
// for the result. Returns 0, or a negative errno: -EACCES if the service refuses.
int whorl_service_open_session(
  sd_bus *bus, uid_t user, const char *session, const char *pam_service, const char *password,
  whorl_deadline deadline, unsigned trying_milliseconds, whorl_outcome *outcome);

// Asks what the user must give so that a login opens the store: whorl_password or whorl_any.
int whorl_service_first_factor(sd_bus *bus, uid_t user, whorl_deadline deadline, whorl_outcome *outcome);

// Reports a new password. OLD may be NULL. Otherwise like whorl_service_open_session.
int whorl_service_change_password(
  sd_bus *bus, uid_t user, const char *old, const char *new, whorl_deadline deadline, unsigned trying_milliseconds,
  whorl_outcome *outcome);

// The answer to a call that was sent. It must stay in its place until whorl_service_forget.
typedef struct {
  int result, has_ended;
  whorl_outcome outcome;
  sd_bus_slot *slot;
} whorl_answer;

// Asks the service for a finger of the user. The outcome is whorl_trying, or the reason why no finger is asked for.
int whorl_service_verify(sd_bus *bus, const whorl_login *login, whorl_answer *answer);

// Asks for the next outcome, after whorl_trying or after a prompt for a touch. Show that prompt before the call: the
// call has the service arm the reader.
int whorl_service_next(sd_bus *bus, whorl_answer *answer);

// Waits for the answer. After -ETIMEDOUT it can be waited for again.
int whorl_service_wait(sd_bus *bus, whorl_answer *answer, whorl_deadline deadline, whorl_outcome *outcome);

// Whether its first answer may take longer; sets the deadline anew then.
int whorl_service_has_just_started(whorl_deadline *deadline);

void whorl_service_forget(whorl_answer *answer);

#endif
