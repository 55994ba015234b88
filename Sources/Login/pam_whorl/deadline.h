// The time on CLOCK_MONOTONIC by which a step of the module must end, and what is watched meanwhile and ends it sooner.
#ifndef WHORL_DEADLINE_H
#define WHORL_DEADLINE_H

#include <stdint.h>
#include <time.h>

// Descriptors that are watched during a step.
typedef struct {
  // Those that are not there are -1.
  int descriptors[2];
  // Called when one is readable: whether the step ends. NULL if it always does.
  int (*ends)(void *data);
  void *data;
} whorl_watch;

typedef struct {
  uint64_t microseconds;
  // NULL if nothing is watched.
  const whorl_watch *watch;
} whorl_deadline;

static inline uint64_t whorl_now(void) {
  struct timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return (uint64_t)now.tv_sec * 1000000 + (uint64_t)now.tv_nsec / 1000;
}

static inline whorl_deadline whorl_deadline_in(unsigned milliseconds) {
  whorl_deadline deadline = {whorl_now() + (uint64_t)milliseconds * 1000, NULL};
  return deadline;
}

// The milliseconds left, rounded up; 0 when the deadline has passed.
static inline int whorl_milliseconds_left(whorl_deadline deadline) {
  uint64_t now = whorl_now();
  return now >= deadline.microseconds ? 0 : (int)((deadline.microseconds - now + 999) / 1000);
}

#endif
