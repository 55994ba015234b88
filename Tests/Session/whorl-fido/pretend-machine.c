// The machine that whorl-fido sees in its tests, in place of the kernel's /dev/uhid and of logind. It is linked with
// --wrap, so that main.c stays as it is. All of it lies in the folder of the test, PRETEND_MACHINE:
//
//     uhid       a socket (SOCK_SEQPACKET): each connection is a device
//     sessions   a line for each session: its name, and words such as `active`, `locked`, `remote`, `seat`,
//                `other-seat` and `user`
//     refuses    where it is there, a device cannot be made of what it is told
//     user       the user who connects, where it is there
//     signals    a FIFO with a letter for each signal of logind: c(hange), s(leep), w(ake), x: the bus has ended
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <systemd/sd-bus.h>
#include <systemd/sd-login.h>
#include <unistd.h>

static char *in_folder(const char *name) {
  static char path[sizeof(((struct sockaddr_un *)0)->sun_path)];
  snprintf(path, sizeof path, "%s/%s", getenv("PRETEND_MACHINE"), name);
  return path;
}

// The line of a session, or of the first one for NULL. NULL where there is none.
static const char *session_line(const char *session) {
  static char line[256];
  FILE *file = fopen(in_folder("sessions"), "re");
  if (!file) return NULL;
  int found = 0;
  while (!found && fgets(line, sizeof line, file)) {
    found = !session || (strncmp(line, session, strlen(session)) == 0 && line[strlen(session)] == ' ');
  }
  fclose(file);
  return found ? line : NULL;
}

static int session_is(const char *session, const char *word) {
  const char *line = session_line(session);
  return line ? strstr(line, word) != NULL : -ENXIO;
}

// --- /dev/uhid

int __real_open(const char *path, int flags, ...);
int __wrap_open(const char *path, int flags, ...) {
  if (strcmp(path, "/dev/uhid") != 0) return __real_open(path, flags, 0600);
  if (access(in_folder("refuses"), F_OK) == 0) {
    // The end of a pipe that refuses what is written, and that never has anything to read.
    int ends[2];
    return pipe2(ends, O_CLOEXEC) == 0 ? ends[0] : -1;
  }
  struct sockaddr_un address = {.sun_family = AF_UNIX};
  strcpy(address.sun_path, in_folder("uhid"));
  int device = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
  if (connect(device, (struct sockaddr *)&address, sizeof address) == 0) return device;
  close(device);
  return -1;
}

// --- Who connects

int __real_getsockopt(int socket, int level, int option, void *value, socklen_t *size);
int __wrap_getsockopt(int socket, int level, int option, void *value, socklen_t *size) {
  int result = __real_getsockopt(socket, level, option, value, size);
  FILE *file = option == SO_PEERCRED ? fopen(in_folder("user"), "re") : NULL;
  if (!file) return result;
  if (fscanf(file, "%u", &((struct ucred *)value)->uid) != 1) result = -1;
  fclose(file);
  return result;
}

// --- logind's library

int __wrap_sd_uid_get_sessions(uid_t user, int require_active, char ***sessions) {
  (void)user, (void)require_active;
  const char *line = session_line(NULL);
  if (!line) return 0;
  *sessions = calloc(2, sizeof **sessions);
  (*sessions)[0] = strndup(line, strcspn(line, " "));
  return 1;
}

int __wrap_sd_uid_get_state(uid_t user, char **state) {
  (void)user;
  *state = strdup(session_line(NULL) ? "active" : "offline");
  return 0;
}

// The sessions of the test's own process: the one that is called `mine`.
int __wrap_sd_pid_get_session(pid_t process, char **session) {
  (void)process;
  if (!session_line("mine")) return -ENODATA;
  *session = strdup("mine");
  return 0;
}

int __wrap_sd_session_is_active(const char *session) { return session_is(session, " active"); }
int __wrap_sd_session_is_remote(const char *session) { return session_is(session, " remote"); }

int __wrap_sd_session_get_seat(const char *session, char **seat) {
  const int is_other = session_is(session, " other-seat") > 0;
  if (!is_other && session_is(session, " seat") <= 0) return -ENODATA;
  *seat = strdup(is_other ? "seat1" : "seat0");
  return 0;
}

int __wrap_sd_session_get_class(const char *session, char **class) {
  *class = strdup(session_is(session, " user") > 0 ? "user" : "greeter");
  return 0;
}

// --- The system's message bus

static int signals = -1;
static int sleeps;
static sd_bus_message_handler_t heard_change, heard_sleep;

int __wrap_sd_bus_open_system(sd_bus **bus) {
  signals = __real_open(in_folder("signals"), O_RDWR | O_CLOEXEC | O_NONBLOCK);
  *bus = (sd_bus *)&signals;
  return signals < 0 ? -errno : 0;
}

int __wrap_sd_bus_set_method_call_timeout(sd_bus *bus, uint64_t microseconds) {
  (void)bus, (void)microseconds;
  return 0;
}

int __wrap_sd_bus_match_signal(sd_bus *bus, sd_bus_slot **slot, const char *sender, const char *path,
                               const char *interface, const char *member, sd_bus_message_handler_t handler,
                               void *context) {
  (void)bus, (void)slot, (void)sender, (void)path, (void)interface, (void)context;
  if (strcmp(member, "PrepareForSleep") == 0) heard_sleep = handler;
  return 0;
}

int __wrap_sd_bus_add_match(sd_bus *bus, sd_bus_slot **slot, const char *match, sd_bus_message_handler_t handler,
                            void *context) {
  (void)bus, (void)slot, (void)match, (void)context;
  heard_change = handler;
  return 0;
}

int __wrap_sd_bus_get_property_trivial(sd_bus *bus, const char *destination, const char *path, const char *interface,
                                       const char *member, sd_bus_error *error, char type, void *value) {
  (void)bus, (void)destination, (void)interface, (void)error, (void)type;
  if (strcmp(member, "PreparingForSleep") == 0) {
    *(int *)value = session_is("sleeps", " now") > 0;
    return 0;
  }
  char *session = NULL;
  if (sd_bus_path_decode(path, "/org/freedesktop/login1/session", &session) <= 0) return -ENXIO;
  const int unknown = session_is(session, " mute") > 0;
  *(int *)value = session_is(session, " locked") > 0;
  free(session);
  return unknown ? -ENXIO : 0;
}

int __wrap_sd_bus_process(sd_bus *bus, sd_bus_message **message) {
  (void)bus, (void)message;
  char signal;
  if (read(signals, &signal, 1) != 1) return 0;
  if (signal == 'x') return -ECONNRESET;
  sleeps = signal == 's';
  if (signal == 'c') heard_change(NULL, NULL, NULL);
  if (signal != 'c') heard_sleep(NULL, NULL, NULL);
  return 1;
}

int __wrap_sd_bus_message_read(sd_bus_message *message, const char *types, ...) {
  (void)message, (void)types;
  va_list arguments;
  va_start(arguments, types);
  *va_arg(arguments, int *) = sleeps;
  va_end(arguments);
  return 1;
}

int __wrap_sd_bus_get_fd(sd_bus *bus) {
  (void)bus;
  return signals;
}

int __wrap_sd_bus_get_events(sd_bus *bus) {
  (void)bus;
  return 1;
}

sd_bus *__wrap_sd_bus_unref(sd_bus *bus) {
  (void)bus;
  return NULL;
}
