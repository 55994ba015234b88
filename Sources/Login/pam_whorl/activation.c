#include "activation.h"

#include <string.h>

#include "connection.h"

// systemd itself, without the message bus, as systemctl asks it for root.
static const whorl_place place = {.folder = "/run/systemd", .socket = "/run/systemd/private"};
static const char unit[] = "/org/freedesktop/systemd1/unit/whorld_2eservice";

typedef struct {
  int has_ended, is_starting;
} answer;

static int take_state(sd_bus_message *reply, void *data, sd_bus_error *unused) {
  (void)unused;
  answer *answer = data;
  const char *state = NULL;
  answer->has_ended = 1;
  // A service that has failed and is started again is in the state auto-restart in between.
  if (!sd_bus_message_is_method_error(reply, NULL) && sd_bus_message_read(reply, "v", "s", &state) >= 0)
    answer->is_starting = strcmp(state, "start") == 0;
  return 0;
}

int whorl_is_starting(whorl_deadline deadline) {
  answer answer = {0};
  sd_bus *bus = NULL;
  sd_bus_slot *slot = NULL;
  int result = whorl_connect(&place, &bus);
  if (result < 0) return 0;
  result = sd_bus_call_method_async(
    bus, &slot, NULL, unit, "org.freedesktop.DBus.Properties", "Get", take_state, &answer, "ss",
    "org.freedesktop.systemd1.Unit", "SubState");
  while (result >= 0 && !answer.has_ended) result = whorl_step(bus, deadline);
  sd_bus_slot_unref(slot);
  whorl_close(bus);
  return answer.is_starting;
}
