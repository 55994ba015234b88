// Makes virtual FIDO devices: one for each user with an active local session whose agent has connected. /dev/uhid could
// also make a keyboard, so this program alone chooses the kind of device, and passes only reports of 64 bytes. It has
// no keys and does not interpret reports.
//
// Each connection has a device, made once its user has an active, unlocked session at the machine's own seat. When that
// ends, both are closed, and the agent connects again. systemd passes the listening socket (SOCK_SEQPACKET), so that a
// message is a report.
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <linux/hid.h>
#include <linux/uhid.h>
#include <poll.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <systemd/sd-bus.h>
#include <systemd/sd-daemon.h>
#include <systemd/sd-login.h>
#include <unistd.h>

enum { REPORT_SIZE = 64 };
enum { PLACES = 16 };
// The program ends after this time without a connection. systemd starts it again for the next one.
enum { IDLE_SECONDS = 30 };

// The report descriptor of CTAPHID: the usage page of FIDO, and reports of 64 bytes each way.
static const uint8_t descriptor[] = {
  0x06, 0xd0, 0xf1,       // usage page: FIDO alliance
  0x09, 0x01,             // usage: U2F authenticator device
  0xa1, 0x01,             // collection: application
  0x09, 0x20,             //   usage: data in
  0x15, 0x00,             //   logical minimum: 0
  0x26, 0xff, 0x00,       //   logical maximum: 255
  0x75, 0x08,             //   report size: 8 bits
  0x95, REPORT_SIZE,      //   report count
  0x81, 0x02,             //   input
  0x09, 0x21,             //   usage: data out
  0x15, 0x00,             //   logical minimum: 0
  0x26, 0xff, 0x00,       //   logical maximum: 255
  0x75, 0x08,             //   report size: 8 bits
  0x95, REPORT_SIZE,      //   report count
  0x91, 0x02,             //   output
  0xc0,                   // end of the collection
};

struct place {
  int agent;   // the connection; -1 for a free place
  int device;  // a descriptor of /dev/uhid; -1 while there is no device
  uid_t user;
};

static struct place places[PLACES];
static const char *uhid = "/dev/uhid";
// Set when a session may have changed.
static int changed;
static int asleep;

static int fail(int status, const char *problem) {
  fprintf(stderr, "whorl-fido: %s\n", problem);
  return status;
}

// Whether a session is active, at the machine's own seat, unlocked and of class "user".
//
// udev counts a device that the kernel makes of nothing to the machine's own seat, and its file is for the user there. So
// the device of somebody at a second seat would be a security key of another person: it would get that person's sign-ins,
// and could answer for the keys of new passkeys.
static int session_counts(sd_bus *bus, const char *session) {
  if (sd_session_is_active(session) <= 0 || sd_session_is_remote(session) != 0) return 0;
  char *seat = NULL, *class = NULL, *path = NULL;
  int counts = sd_session_get_seat(session, &seat) >= 0 && strcmp(seat, "seat0") == 0 &&
               sd_session_get_class(session, &class) >= 0 && strcmp(class, "user") == 0;
  int locked = 1;
  // A session whose state cannot be read counts as locked.
  counts = counts && sd_bus_path_encode("/org/freedesktop/login1/session", session, &path) >= 0 &&
           sd_bus_get_property_trivial(bus, "org.freedesktop.login1", path, "org.freedesktop.login1.Session",
                                       "LockedHint", NULL, 'b', &locked) >= 0 &&
           !locked;
  free(seat);
  free(class);
  free(path);
  return counts;
}

static int user_counts(sd_bus *bus, uid_t user) {
  char **sessions = NULL;
  int counts = 0;
  if (asleep || sd_uid_get_sessions(user, 1, &sessions) <= 0) return 0;
  for (char **session = sessions; *session; session++) {
    counts = counts || session_counts(bus, *session);
    free(*session);
  }
  free(sessions);
  return counts;
}

static void leave(struct place *place) {
  if (place->device >= 0) {
    struct uhid_event event = {.type = UHID_DESTROY};
    // Closing the descriptor destroys the device as well.
    ssize_t written = write(place->device, &event, sizeof event);
    (void)written;
    close(place->device);
  }
  close(place->agent);
  *place = (struct place){.agent = -1, .device = -1};
}

static int make_device(struct place *place) {
  int device = open(uhid, O_RDWR | O_CLOEXEC | O_NONBLOCK);
  if (device < 0) return -1;
  struct uhid_event event = {.type = UHID_CREATE2};
  struct uhid_create2_req *request = &event.u.create2;
  snprintf((char *)request->name, sizeof request->name, "Whorl passkeys");
  snprintf((char *)request->phys, sizeof request->phys, "whorl-fido");
  snprintf((char *)request->uniq, sizeof request->uniq, "whorl-%u", (unsigned)place->user);
  request->rd_size = sizeof descriptor;
  // Browsers look for devices on USB.
  request->bus = BUS_USB;
  // The ID of pid.codes for tests and prototypes: Whorl makes no hardware.
  request->vendor = 0x1209;
  request->product = 0x0001;
  request->version = 1;
  memcpy(request->rd_data, descriptor, sizeof descriptor);
  if (write(device, &event, sizeof event) != (ssize_t)sizeof event) {
    close(device);
    return -1;
  }
  place->device = device;
  return 0;
}

// Makes the devices of users who have an active session now, and closes the connections of those who no longer have
// one.
static void follow(sd_bus *bus) {
  for (int i = 0; i < PLACES; i++) {
    struct place *place = &places[i];
    if (place->agent < 0) continue;
    int counts = user_counts(bus, place->user);
    if (!counts && place->device >= 0) leave(place);
    if (counts && place->device < 0 && make_device(place) != 0) {
      fprintf(stderr, "whorl-fido: cannot make a device: %s\n", strerror(errno));
      leave(place);
    }
  }
}

// Whether a program may connect: its user must be logged in, and its session must not be remote. A user's service
// manager and its services are in no session.
static int may_connect(const struct ucred *peer) {
  char *state = NULL, *session = NULL;
  int may = sd_uid_get_state(peer->uid, &state) >= 0 && strcmp(state, "offline") != 0;
  if (may && sd_pid_get_session(peer->pid, &session) >= 0) may = sd_session_is_remote(session) == 0;
  free(state);
  free(session);
  return may;
}

// Accepts a connection. It replaces an earlier one of the same user, whose agent may hang.
static void admit(int listener) {
  int agent = accept4(listener, NULL, NULL, SOCK_CLOEXEC | SOCK_NONBLOCK);
  if (agent < 0) return;
  struct ucred peer;
  socklen_t size = sizeof peer;
  if (getsockopt(agent, SOL_SOCKET, SO_PEERCRED, &peer, &size) != 0 || !may_connect(&peer)) {
    close(agent);
    return;
  }
  struct place *free_place = NULL;
  for (int i = 0; i < PLACES; i++) {
    if (places[i].agent >= 0 && places[i].user == peer.uid) leave(&places[i]);
    if (places[i].agent < 0) free_place = &places[i];
  }
  if (!free_place) {
    close(agent);
    return;
  }
  *free_place = (struct place){.agent = agent, .device = -1, .user = peer.uid};
  changed = 1;
}

// Passes a report of the agent to the programs that have the device open. Returns -1 if the connection must end, as if
// there is no device yet.
static int pass_from_agent(struct place *place) {
  struct uhid_event event = {.type = UHID_INPUT2};
  struct uhid_input2_req *input = &event.u.input2;
  ssize_t count = recv(place->agent, input->data, REPORT_SIZE + 1, 0);
  if (count < 0 && (errno == EAGAIN || errno == EINTR)) return 0;
  if (count != REPORT_SIZE) return -1;
  input->size = REPORT_SIZE;
  return write(place->device, &event, sizeof event) == (ssize_t)sizeof event || errno == EAGAIN ? 0 : -1;
}

// Passes a report of a program to the agent.
static int pass_from_device(struct place *place) {
  struct uhid_event event;
  ssize_t count = read(place->device, &event, sizeof event);
  if (count < 0 && (errno == EAGAIN || errno == EINTR)) return 0;
  if (count < (ssize_t)sizeof event.type) return -1;
  if (event.type != UHID_OUTPUT) return 0;
  const struct uhid_output_req *output = &event.u.output;
  const uint8_t *report = output->data;
  // The report number may come first: 0, since there is only one report.
  size_t size = output->size;
  if (size == REPORT_SIZE + 1) {
    report++;
    size--;
  }
  if (size != REPORT_SIZE) return 0;
  if (send(place->agent, report, REPORT_SIZE, MSG_NOSIGNAL) == REPORT_SIZE) return 0;
  // Drop the report if the agent does not read. Its clients then time out.
  return errno == EAGAIN ? 0 : -1;
}

static int heard_change(sd_bus_message *message, void *context, sd_bus_error *error) {
  (void)message, (void)context, (void)error;
  changed = 1;
  return 0;
}

static int heard_sleep(sd_bus_message *message, void *context, sd_bus_error *error) {
  (void)context, (void)error;
  int begins = 1;
  if (sd_bus_message_read(message, "b", &begins) >= 0) asleep = begins;
  changed = 1;
  return 0;
}

// Listens to logind. NULL if the bus cannot be reached.
static sd_bus *connect_bus(void) {
  sd_bus *bus = NULL;
  if (sd_bus_open_system(&bus) < 0) return NULL;
  // A logind that hangs must not delay reports for long.
  sd_bus_set_method_call_timeout(bus, 2 * 1000 * 1000);
  const char *manager = "/org/freedesktop/login1";
  if (sd_bus_match_signal(bus, NULL, "org.freedesktop.login1", manager, "org.freedesktop.login1.Manager",
                          "PrepareForSleep", heard_sleep, NULL) < 0 ||
      sd_bus_match_signal(bus, NULL, "org.freedesktop.login1", manager, "org.freedesktop.login1.Manager", "SessionNew",
                          heard_change, NULL) < 0 ||
      sd_bus_match_signal(bus, NULL, "org.freedesktop.login1", manager, "org.freedesktop.login1.Manager",
                          "SessionRemoved", heard_change, NULL) < 0 ||
      sd_bus_add_match(bus, NULL,
                       "type='signal',sender='org.freedesktop.login1',member='PropertiesChanged',"
                       "path_namespace='/org/freedesktop/login1'",
                       heard_change, NULL) < 0) {
    sd_bus_unref(bus);
    return NULL;
  }
  // The signal of a sleep that has already begun was missed.
  if (sd_bus_get_property_trivial(bus, "org.freedesktop.login1", manager, "org.freedesktop.login1.Manager",
                                  "PreparingForSleep", NULL, 'b', &asleep) < 0) {
    asleep = 0;
  }
  return bus;
}

int main(void) {
  // The reader of standard error may have ended.
  signal(SIGPIPE, SIG_IGN);
  if (sd_listen_fds(1) != 1 || sd_is_socket_unix(SD_LISTEN_FDS_START, SOCK_SEQPACKET, 1, NULL, 0) <= 0) {
    return fail(64, "systemd passes the socket: enable whorl-fido.socket");
  }
  const int listener = SD_LISTEN_FDS_START;
  const struct rlimit no_core = {0, 0};
  setrlimit(RLIMIT_CORE, &no_core);
  prctl(PR_SET_DUMPABLE, 0);
  for (int i = 0; i < PLACES; i++) places[i] = (struct place){.agent = -1, .device = -1};
  sd_bus *bus = connect_bus();
  if (!bus) return fail(69, "logind cannot be reached: is the system's message bus running?");
  for (;;) {
    int result;
    do {
      if (changed) {
        changed = 0;
        follow(bus);
      }
      // Signals that came while `follow` waited for an answer are in the bus's queue: poll does not report them.
      while ((result = sd_bus_process(bus, NULL)) > 0) {
      }
      // systemd starts the program again, with a new connection to the bus.
      if (result < 0) return fail(69, "the system's message bus has ended");
    } while (changed);
    struct pollfd polled[2 + 2 * PLACES] = {
      {.fd = listener, .events = POLLIN},
      {.fd = sd_bus_get_fd(bus), .events = (short)sd_bus_get_events(bus)},
    };
    int users = 0;
    for (int i = 0; i < PLACES; i++) {
      // Poll ignores negative descriptors.
      polled[2 + 2 * i] = (struct pollfd){.fd = places[i].agent, .events = POLLIN};
      polled[3 + 2 * i] = (struct pollfd){.fd = places[i].device, .events = POLLIN};
      users += places[i].agent >= 0;
    }
    int ready = poll(polled, sizeof polled / sizeof *polled, users ? -1 : IDLE_SECONDS * 1000);
    if (ready < 0 && errno != EINTR) return fail(71, strerror(errno));
    if (ready == 0 && !users) return 0;
    if (ready <= 0) continue;
    for (int i = 0; i < PLACES; i++) {
      struct place *place = &places[i];
      if (place->agent < 0) continue;
      int result_of_place = 0;
      if (polled[3 + 2 * i].revents) result_of_place = pass_from_device(place);
      if (result_of_place == 0 && polled[2 + 2 * i].revents) result_of_place = pass_from_agent(place);
      if (result_of_place != 0) leave(place);
    }
    if (polled[0].revents) admit(listener);
  }
}
