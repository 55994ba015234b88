// Whether the service has only just been started, as a connection to its socket has systemd do.
#ifndef WHORL_ACTIVATION_H
#define WHORL_ACTIVATION_H

#include "deadline.h"

// Asks systemd whether it is starting the service, or has within the last seconds. Not if the service fails, is stopped,
// masked or not installed, nor if systemd does not answer or WATCH (or NULL) ends the wait.
int whorl_is_starting(const whorl_watch *watch);

#endif
