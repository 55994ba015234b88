// Whether the service has only just been started, as a connection to its socket has systemd do.
#ifndef WHORL_ACTIVATION_H
#define WHORL_ACTIVATION_H

// Asks systemd whether it is starting the service, or has within the last seconds. Not if the service fails, is stopped,
// masked or not installed, nor if systemd does not answer or the descriptor INTERRUPT (or -1) becomes readable.
int whorl_is_starting(int interrupt);

#endif
