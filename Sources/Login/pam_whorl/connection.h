// Connections to sockets on which only root can listen. Each step ends by a deadline, whatever the other side does.
#ifndef WHORL_CONNECTION_H
#define WHORL_CONNECTION_H

#include <systemd/sd-bus.h>

#include "deadline.h"

// A socket, and the folder of /run that it is in.
typedef struct {
  const char *folder, *socket;
} whorl_place;

// Connects, and does not wait for the handshake. Returns 0 or a negative errno: -ENOENT if there is no such socket,
// -EPERM if a user other than root could have made it or listens on it.
//
// `own_name`: the abstract name of this end of the connection, which the other side can read; NULL for none.
int whorl_connect(const whorl_place *place, const char *own_name, sd_bus **bus);

// Handles one event of the connection, or waits for the next one. Returns 0, or a negative errno: -ETIMEDOUT,
// -EINTR if what is watched has ended the step.
int whorl_step(sd_bus *bus, whorl_deadline deadline);

// Closes and frees a connection.
void whorl_close(sd_bus *bus);

#endif
