#pragma once
#include <sys/eventfd.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <systemd/sd-bus.h>
#include <systemd/sd-daemon.h>
#include <systemd/sd-journal.h>
#include <systemd/sd-login.h>

// prctl is variadic, so Swift cannot call it.
static inline int whorl_set_process_option(int option, unsigned long value) {
  return prctl(option, value, 0, 0, 0);
}

// Newer than the headers of the distributions (Linux 6.5).
#ifndef SO_PEERPIDFD
#define SO_PEERPIDFD 77
#endif

// Declared by the headers only under _GNU_SOURCE, which Swift does not set.
extern int accept4(int socket, struct sockaddr *address, socklen_t *size, int flags);
