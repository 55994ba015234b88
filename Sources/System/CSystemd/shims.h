#pragma once
#include <sys/eventfd.h>
#include <sys/prctl.h>
#include <systemd/sd-bus.h>

// prctl is variadic, so Swift cannot call it.
static inline int whorl_set_process_option(int option, unsigned long value) {
  return prctl(option, value, 0, 0, 0);
}
