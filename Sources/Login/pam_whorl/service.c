#include "service.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <sys/random.h>
#include <unistd.h>

#include "activation.h"
#include "connection.h"
#include "password.h"

static const whorl_place place = {.folder = "/run/whorl", .socket = "/run/whorl/bus"};
static const char path[] = "/org/whorl/Login";
static const char interface[] = "org.whorl.Login1";

enum {
  // The longest that a program waits for a service that does not answer.
  answer_milliseconds = 900,
  // The longest after that while systemd is starting the service, and then for its first answer.
  start_milliseconds = 4000,
  first_milliseconds = 8000,
};

// MARK: Connecting

int whorl_service_is_installed(void) { return access(place.socket, F_OK) == 0 || errno != ENOENT; }

// Waits for the handshake: before it is complete, sd-bus would block when it sends a descriptor.
static int shake_hands(sd_bus *bus, whorl_deadline deadline) {
  int result = 0;
  while (result >= 0 && (result = sd_bus_is_ready(bus)) == 0) result = whorl_step(bus, deadline);
  return result < 0 ? result : 0;
}

// The name by which the service passes the connection to the vault of this user, before it reads anything. The random
// word keeps others from taking the name first.
static int name_connection(uid_t user, char *name, size_t size) {
  uint64_t word;
  if (getrandom(&word, sizeof word, 0) != sizeof word) return -EAGAIN;
  return snprintf(name, size, "whorl-login/%u/%016" PRIx64, (unsigned)user, word) < (int)size ? 0 : -ENAMETOOLONG;
}

int whorl_service_connect(uid_t user, const whorl_watch *watch, whorl_deadline *deadline, sd_bus **made) {
  *deadline = whorl_deadline_in(answer_milliseconds);
  deadline->watch = watch;
  char name[64];
  int result = name_connection(user, name, sizeof name);
  if (result >= 0) result = whorl_connect(&place, name, made);
  if (result < 0) return result;
  result = shake_hands(*made, *deadline);
  if (result == -ETIMEDOUT && whorl_is_starting(watch)) return -EINPROGRESS;
  if (result < 0) whorl_close(*made);
  return result;
}

int whorl_service_start(whorl_deadline *deadline, sd_bus *bus) {
  const whorl_watch *watch = deadline->watch;
  int result;
  whorl_deadline end = whorl_deadline_in(start_milliseconds);
  do {
    *deadline = whorl_deadline_in(answer_milliseconds);
    deadline->watch = watch;
    result = shake_hands(bus, *deadline);
  } while (result == -ETIMEDOUT && whorl_milliseconds_left(end) > 0 && whorl_is_starting(watch));
  *deadline = whorl_deadline_in(first_milliseconds);
  deadline->watch = watch;
  if (result < 0) whorl_close(bus);
  return result;
}

// MARK: Calling

static int read_outcome(const char *word, whorl_answer *answer) {
  static const struct {
    const char *word;
    whorl_outcome outcome;
  } outcomes[] = {
    {"trying", whorl_trying},         {"open", whorl_open},         {"closed", whorl_closed},
    {"password", whorl_password},     {"any", whorl_any},           {"no-store", whorl_no_store},
    {"changed", whorl_changed},       {"not-chosen", whorl_not_chosen}, {"kept", whorl_kept},
    {"unfit", whorl_unfit},           {"touch", whorl_touch},       {"retry", whorl_retry},
    {"other-finger", whorl_other_finger}, {"swipe", whorl_swipe}, {"retry-swipe", whorl_retry_swipe},
    {"other-finger-swipe", whorl_other_finger_swipe}, {"verified", whorl_verified}, {"no-match", whorl_no_match},
    {"locked-out", whorl_locked_out}, {"no-finger", whorl_no_finger}, {"not-passcode", whorl_not_passcode},
  };
  for (size_t index = 0; index < sizeof outcomes / sizeof *outcomes; index++) {
    if (strcmp(word, outcomes[index].word) != 0) continue;
    answer->outcome = outcomes[index].outcome;
    return 0;
  }
  return -EBADMSG;
}

static int take_reply(sd_bus_message *reply, void *data, sd_bus_error *unused) {
  (void)unused;
  whorl_answer *answer = data;
  answer->has_ended = 1;
  const char *word = NULL;
  if (sd_bus_message_is_method_error(reply, NULL)) {
    answer->result = -EACCES;
  } else if (!sd_bus_message_has_signature(reply, "s")) {
    answer->result = -EBADMSG;
  } else {
    answer->result = sd_bus_message_read(reply, "s", &word);
    if (answer->result >= 0) answer->result = read_outcome(word, answer);
  }
  return 0;
}

static int new_call(sd_bus *bus, const char *member, sd_bus_message **message) {
  return sd_bus_message_new_method_call(bus, message, NULL, path, interface, member);
}

// Appends an array of one descriptor, which sd-bus duplicates, or an empty array for -1.
static int append_descriptor(sd_bus_message *message, int descriptor) {
  return descriptor < 0 ? sd_bus_message_append(message, "ah", 0) : sd_bus_message_append(message, "ah", 1, descriptor);
}

// Appends the password as an array of one sealed memory file, or an empty array for NULL.
static int append_password(sd_bus_message *message, const char *password) {
  int file = password == NULL ? -1 : whorl_password_file(password);
  if (password != NULL && file < 0) return file;
  int result = append_descriptor(message, file);
  if (file >= 0) close(file);
  return result;
}

// Sends a call, whose answer whorl_service_wait returns. Frees the message.
static int send(sd_bus *bus, sd_bus_message *message, int result, whorl_answer *answer) {
  memset(answer, 0, sizeof *answer);
  // sd-bus's own time limit is longer than any deadline.
  if (result >= 0) result = sd_bus_call_async(bus, &answer->slot, message, take_reply, answer, 0);
  sd_bus_message_unref(message);
  return result;
}

int whorl_service_wait(sd_bus *bus, whorl_answer *answer, whorl_deadline deadline, whorl_outcome *outcome) {
  int result = 0;
  while (result >= 0 && !answer->has_ended) result = whorl_step(bus, deadline);
  if (result >= 0) result = answer->result;
  if (result >= 0) *outcome = answer->outcome;
  return result;
}

void whorl_service_forget(whorl_answer *answer) {
  sd_bus_slot_unref(answer->slot);
  answer->slot = NULL;
}

int whorl_service_has_just_started(whorl_deadline *deadline) {
  const whorl_watch *watch = deadline->watch;
  if (!whorl_is_starting(watch)) return 0;
  *deadline = whorl_deadline_in(first_milliseconds);
  deadline->watch = watch;
  return 1;
}

// Sends a call and waits for its answer. Frees the message.
static int ask(sd_bus *bus, sd_bus_message *message, int result, whorl_deadline deadline, whorl_outcome *outcome) {
  whorl_answer answer;
  result = send(bus, message, result, &answer);
  if (result >= 0) result = whorl_service_wait(bus, &answer, deadline, outcome);
  if (result == -ETIMEDOUT && whorl_service_has_just_started(&deadline))
    result = whorl_service_wait(bus, &answer, deadline, outcome);
  whorl_service_forget(&answer);
  return result;
}

// The same for a call that may start a try of a passcode; then waits for the result of the try.
static int request(
  sd_bus *bus, sd_bus_message *message, int result, whorl_deadline deadline, unsigned trying_milliseconds,
  whorl_outcome *outcome
) {
  result = ask(bus, message, result, deadline, outcome);
  if (result < 0 || *outcome != whorl_trying) return result;
  // Without a password there is nothing to try.
  if (trying_milliseconds == 0) return -EBADMSG;
  whorl_answer answer;
  result = whorl_service_next(bus, &answer);
  if (result >= 0) result = whorl_service_wait(bus, &answer, whorl_deadline_in(trying_milliseconds), outcome);
  whorl_service_forget(&answer);
  return result >= 0 && *outcome == whorl_trying ? -EBADMSG : result;
}

int whorl_service_open_session(
  sd_bus *bus, uid_t user, const char *session, const char *pam_service, const char *password,
  whorl_deadline deadline, unsigned trying_milliseconds, whorl_outcome *outcome
) {
  sd_bus_message *message = NULL;
  int result = new_call(bus, "OpenSession", &message);
  if (result >= 0) result = sd_bus_message_append(message, "uss", (uint32_t)user, session, pam_service);
  if (result >= 0) result = append_password(message, password);
  return request(bus, message, result, deadline, password == NULL ? 0 : trying_milliseconds, outcome);
}

int whorl_service_first_factor(sd_bus *bus, uid_t user, whorl_deadline deadline, whorl_outcome *outcome) {
  sd_bus_message *message = NULL;
  int result = new_call(bus, "FirstFactor", &message);
  if (result >= 0) result = sd_bus_message_append(message, "u", (uint32_t)user);
  return request(bus, message, result, deadline, 0, outcome);
}

int whorl_service_change_password(
  sd_bus *bus, uid_t user, const char *old, const char *new, whorl_deadline deadline, unsigned trying_milliseconds,
  whorl_outcome *outcome
) {
  sd_bus_message *message = NULL;
  int result = new_call(bus, "ChangePassword", &message);
  if (result >= 0) result = sd_bus_message_append(message, "u", (uint32_t)user);
  if (result >= 0) result = append_password(message, old);
  if (result >= 0) result = append_password(message, new);
  return request(bus, message, result, deadline, old == NULL ? 0 : trying_milliseconds, outcome);
}

int whorl_service_verify(sd_bus *bus, const whorl_login *login, whorl_answer *answer) {
  sd_bus_message *message = NULL;
  int result = new_call(bus, "Verify", &message);
  if (result >= 0)
    result = sd_bus_message_append(
      message, "ubsss", (uint32_t)login->user, login->is_greeter, login->pam_service, login->seat, login->terminal);
  if (result >= 0) result = append_descriptor(message, login->agent);
  return send(bus, message, result, answer);
}

int whorl_service_next(sd_bus *bus, whorl_answer *answer) {
  sd_bus_message *message = NULL;
  int result = new_call(bus, "Await", &message);
  return send(bus, message, result, answer);
}
