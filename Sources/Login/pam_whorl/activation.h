// Whether systemd is starting the service, which a connection to its socket has it do.
#ifndef WHORL_ACTIVATION_H
#define WHORL_ACTIVATION_H

#include "deadline.h"

// Asks systemd. Not if it fails, is stopped, masked or not installed, nor if systemd does not answer by the deadline.
int whorl_is_starting(whorl_deadline deadline);

#endif
