#include "service.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include "password.h"

#define SOCKET "/run/whorl/bus"
#ifndef SO_PASSRIGHTS
// Of Linux 6.16, and of later kernel headers than those of most distributions.
#define SO_PASSRIGHTS 83
#endif
static const char path[] = "/org/whorl/Login";
static const char interface[] = "org.whorl.Login1";

// MARK: Connecting

// 0 if only root can replace this folder and the entries in it; otherwise a negative errno.
static int is_roots_folder(const char *folder) {
  struct stat status;
  if (lstat(folder, &status) != 0) return -errno;
  return S_ISDIR(status.st_mode) && status.st_uid == 0 && (status.st_mode & (S_IWGRP | S_IWOTH)) == 0 ? 0 : -EPERM;
}

static int check_socket(void) {
  static const char *const folders[] = {"/", "/run", "/run/whorl"};
  for (size_t index = 0; index < sizeof folders / sizeof *folders; index++) {
    int result = is_roots_folder(folders[index]);
    if (result < 0) return result;
  }
  struct stat status;
  if (lstat(SOCKET, &status) != 0) return -errno;
  return S_ISSOCK(status.st_mode) && status.st_uid == 0 ? 0 : -EPERM;
}

// Connects to the socket and checks that root listens on it: systemd listens for the service.
static int connect_socket(void) {
  int result = check_socket();
  if (result < 0) return result;
  int descriptor = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
  if (descriptor < 0) return -errno;
  // The service sends no descriptors, and sd-bus leaks those of a message that it cannot read. Older kernels ignore
  // this option.
  const int none = 0;
  (void)setsockopt(descriptor, SOL_SOCKET, SO_PASSRIGHTS, &none, sizeof none);
  const struct sockaddr_un address = {.sun_family = AF_UNIX, .sun_path = SOCKET};
  struct ucred listener;
  socklen_t size = sizeof listener;
  // The socket does not block: if the queue of connections is full, connect fails.
  if (connect(descriptor, (const struct sockaddr *)&address, sizeof address) != 0 ||
      getsockopt(descriptor, SOL_SOCKET, SO_PEERCRED, &listener, &size) != 0)
    result = -errno;
  else if (listener.uid != 0)
    result = -EPERM;
  if (result < 0) {
    close(descriptor);
    return result;
  }
  return descriptor;
}

// Handles one event of the connection, or waits for the next one. Returns 0, or a negative errno.
static int step(sd_bus *bus, whorl_deadline deadline) {
  int left = whorl_milliseconds_left(deadline);
  if (left == 0) return -ETIMEDOUT;
  int result = sd_bus_process(bus, NULL);
  if (result != 0) return result < 0 ? result : 0;
  // sd-bus has its own deadline, which is now if the other side has closed.
  whorl_deadline wanted = deadline;
  if (sd_bus_get_timeout(bus, &wanted.microseconds) < 0) return -ECONNRESET;
  if (wanted.microseconds < deadline.microseconds) left = whorl_milliseconds_left(wanted);
  int events = sd_bus_get_events(bus);
  struct pollfd polled[] = {
    {.fd = sd_bus_get_fd(bus), .events = (short)events}, {.fd = deadline.interrupt, .events = POLLIN}};
  if (polled[0].fd < 0 || events < 0) return -ECONNRESET;
  if (poll(polled, 2, left) < 0) return errno == EINTR ? 0 : -errno;
  return polled[1].revents != 0 ? -EINTR : 0;
}

int whorl_service_connect(whorl_deadline deadline, sd_bus **made) {
  int descriptor = connect_socket();
  if (descriptor < 0) return descriptor;
  sd_bus *bus = NULL;
  int result = sd_bus_new(&bus);
  if (result >= 0) result = sd_bus_set_fd(bus, descriptor, descriptor);
  if (result < 0) {
    close(descriptor);
    sd_bus_unref(bus);
    return result;
  }
  // From here on the bus closes the socket.
  result = sd_bus_negotiate_fds(bus, 1);
  if (result >= 0) result = sd_bus_start(bus);
  // Waits for the handshake: before it is complete, sd-bus would block when it sends a descriptor.
  while (result >= 0 && (result = sd_bus_is_ready(bus)) == 0) result = step(bus, deadline);
  if (result < 0) {
    whorl_service_close(bus);
    return result;
  }
  *made = bus;
  return 0;
}

void whorl_service_close(sd_bus *bus) {
  // Not sd_bus_flush_close_unref: a flush would wait for the service.
  sd_bus_close(bus);
  sd_bus_unref(bus);
}

// MARK: Calling

typedef struct {
  int result;
  int has_ended;
  whorl_outcome outcome;
} answer;

static int read_outcome(const char *word, answer *answer) {
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
  answer *answer = data;
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

// Sends the call and waits for its answer.
static int send_and_wait(sd_bus *bus, sd_bus_message *message, whorl_deadline deadline, answer *answer) {
  memset(answer, 0, sizeof *answer);
  sd_bus_slot *slot = NULL;
  // sd-bus's own time limit is longer than the deadline.
  int result = sd_bus_call_async(bus, &slot, message, take_reply, answer, 0);
  while (result >= 0 && !answer->has_ended) result = step(bus, deadline);
  // From here on no reply is written to `answer`.
  sd_bus_slot_unref(slot);
  return result < 0 ? result : answer->result;
}

static int new_call(sd_bus *bus, const char *member, sd_bus_message **message) {
  return sd_bus_message_new_method_call(bus, message, NULL, path, interface, member);
}

// Appends the password as an array of one sealed memory file, or an empty array for NULL.
static int append_password(sd_bus_message *message, const char *password) {
  if (password == NULL) return sd_bus_message_append(message, "ah", 0);
  int file = whorl_password_file(password);
  if (file < 0) return file;
  // sd-bus duplicates the descriptor.
  int result = sd_bus_message_append(message, "ah", 1, file);
  close(file);
  return result;
}

// Sends a call and waits for its answer. Frees the message.
static int ask(sd_bus *bus, sd_bus_message *message, int result, whorl_deadline deadline, whorl_outcome *outcome) {
  answer answer = {0};
  if (result >= 0) result = send_and_wait(bus, message, deadline, &answer);
  sd_bus_message_unref(message);
  if (result >= 0) *outcome = answer.outcome;
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
  result = whorl_service_next(bus, whorl_deadline_in(trying_milliseconds), outcome);
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

int whorl_service_verify(sd_bus *bus, const whorl_login *login, whorl_deadline deadline, whorl_outcome *outcome) {
  sd_bus_message *message = NULL;
  int result = new_call(bus, "Verify", &message);
  if (result >= 0)
    result = sd_bus_message_append(
      message, "ubsss", (uint32_t)login->user, login->is_greeter, login->pam_service, login->seat, login->terminal);
  return ask(bus, message, result, deadline, outcome);
}

int whorl_service_next(sd_bus *bus, whorl_deadline deadline, whorl_outcome *outcome) {
  sd_bus_message *message = NULL;
  int result = new_call(bus, "Await", &message);
  return ask(bus, message, result, deadline, outcome);
}
