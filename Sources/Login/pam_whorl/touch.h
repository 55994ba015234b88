// Asks the service for a finger, from the call to the result.
#ifndef WHORL_TOUCH_H
#define WHORL_TOUCH_H

#include "deadline.h"
#include "service.h"

// How a person is asked. All functions are called in the thread that asks.
typedef struct {
  // Shows the prompt of an outcome that wants a touch, before the reader is armed. Returns 0 or a negative errno.
  int (*show)(void *data, whorl_outcome outcome);
  // Says that the reader is waited for; NULL if nothing is said.
  void (*tell)(void *data);
  void *data;
  // What ends the wait; NULL for nothing.
  const whorl_watch *watch;
} whorl_touching;

// Returns 0, or a negative errno: -EINTR if what is watched has ended the wait.
int whorl_touch_ask(const whorl_touching *touching, const whorl_login *login, whorl_outcome *outcome);

#endif
