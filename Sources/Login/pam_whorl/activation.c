#include "activation.h"

#include <string.h>

#include "connection.h"

// systemd itself, without the message bus, as systemctl asks it for root.
static const whorl_place place = {.folder = "/run/systemd", .socket = "/run/systemd/private"};
static const char unit[] = "/org/freedesktop/systemd1/unit/whorld_2eservice";

enum {
  // How long after its start the service may still be slow.
  young_microseconds = 8000000,
  // For systemd's own answer, which is slow on a slow machine, too.
  answer_milliseconds = 3000,
};

typedef struct {
  int answers, is_starting, is_running;
  // When the state began, on CLOCK_MONOTONIC.
  uint64_t since;
} state;

static int take_name(sd_bus_message *reply, void *data, sd_bus_error *unused) {
  (void)unused;
  state *state = data;
  const char *name = NULL;
  state->answers++;
  if (sd_bus_message_is_method_error(reply, NULL) || sd_bus_message_read(reply, "v", "s", &name) < 0) return 0;
  // A service that has failed and is to be started again is in neither.
  state->is_starting = strcmp(name, "start") == 0;
  state->is_running = strcmp(name, "running") == 0;
  return 0;
}

static int take_time(sd_bus_message *reply, void *data, sd_bus_error *unused) {
  (void)unused;
  state *state = data;
  state->answers++;
  if (!sd_bus_message_is_method_error(reply, NULL)) sd_bus_message_read(reply, "v", "t", &state->since);
  return 0;
}

static int get(sd_bus *bus, sd_bus_slot **slot, const char *property, sd_bus_message_handler_t take, state *state) {
  return sd_bus_call_method_async(
    bus, slot, NULL, unit, "org.freedesktop.DBus.Properties", "Get", take, state, "ss",
    "org.freedesktop.systemd1.Unit", property);
}

int whorl_is_starting(const whorl_watch *watch) {
  whorl_deadline deadline = whorl_deadline_in(answer_milliseconds);
  deadline.watch = watch;
  state state = {0};
  sd_bus *bus = NULL;
  sd_bus_slot *name = NULL, *time = NULL;
  int result = whorl_connect(&place, NULL, &bus);
  if (result < 0) return 0;
  result = get(bus, &name, "SubState", take_name, &state);
  if (result >= 0) result = get(bus, &time, "StateChangeTimestampMonotonic", take_time, &state);
  while (result >= 0 && state.answers < 2) result = whorl_step(bus, deadline);
  sd_bus_slot_unref(name);
  sd_bus_slot_unref(time);
  whorl_close(bus);
  return result >= 0 && (state.is_starting || (state.is_running && whorl_now() - state.since < young_microseconds));
}
