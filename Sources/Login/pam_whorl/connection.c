#include "connection.h"

#include <errno.h>
#include <poll.h>
#include <stddef.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#ifndef SO_PASSRIGHTS
// Of Linux 6.16, and of later kernel headers than those of most distributions.
#define SO_PASSRIGHTS 83
#endif

// 0 if only root can replace this folder and the entries in it; otherwise a negative errno.
static int is_roots_folder(const char *folder) {
  struct stat status;
  if (lstat(folder, &status) != 0) return -errno;
  return S_ISDIR(status.st_mode) && status.st_uid == 0 && (status.st_mode & (S_IWGRP | S_IWOTH)) == 0 ? 0 : -EPERM;
}

static int check_socket(const whorl_place *place) {
  const char *const folders[] = {"/", "/run", place->folder};
  for (size_t index = 0; index < sizeof folders / sizeof *folders; index++) {
    int result = is_roots_folder(folders[index]);
    if (result < 0) return result;
  }
  struct stat status;
  if (lstat(place->socket, &status) != 0) return -errno;
  return S_ISSOCK(status.st_mode) && status.st_uid == 0 ? 0 : -EPERM;
}

// Gives the socket a name that begins with a NUL byte, and is no file.
static int name_socket(int descriptor, const char *name) {
  struct sockaddr_un address = {.sun_family = AF_UNIX};
  size_t length = strlen(name);
  if (length > sizeof address.sun_path - 1) return -ENAMETOOLONG;
  memcpy(address.sun_path + 1, name, length);
  socklen_t size = (socklen_t)(offsetof(struct sockaddr_un, sun_path) + 1 + length);
  return bind(descriptor, (const struct sockaddr *)&address, size) == 0 ? 0 : -errno;
}

// Connects to the socket and checks that root listens on it, as systemd does for the service.
static int connect_socket(const whorl_place *place, const char *own_name) {
  int result = check_socket(place);
  if (result < 0) return result;
  int descriptor = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
  if (descriptor < 0) return -errno;
  // The service sends no descriptors, and sd-bus leaks those of a message that it cannot read. Older kernels ignore
  // this option.
  const int none = 0;
  (void)setsockopt(descriptor, SOL_SOCKET, SO_PASSRIGHTS, &none, sizeof none);
  result = own_name != NULL ? name_socket(descriptor, own_name) : 0;
  if (result < 0) {
    close(descriptor);
    return result;
  }
  struct sockaddr_un address = {.sun_family = AF_UNIX};
  strncpy(address.sun_path, place->socket, sizeof address.sun_path - 1);
  struct ucred listener;
  socklen_t size = sizeof listener;
  // The socket does not block: if the queue of connections is full, connect fails.
  if (connect(descriptor, (const struct sockaddr *)&address, sizeof address) != 0 ||
      getsockopt(descriptor, SOL_SOCKET, SO_PEERCRED, &listener, &size) != 0)
    result = -errno;
  else if (listener.uid != 0)
    result = -EPERM;
  if (result < 0) {
    close(descriptor);
    return result;
  }
  return descriptor;
}

int whorl_connect(const whorl_place *place, const char *own_name, sd_bus **made) {
  int descriptor = connect_socket(place, own_name);
  if (descriptor < 0) return descriptor;
  sd_bus *bus = NULL;
  int result = sd_bus_new(&bus);
  if (result >= 0) result = sd_bus_set_fd(bus, descriptor, descriptor);
  if (result < 0) {
    close(descriptor);
    sd_bus_unref(bus);
    return result;
  }
  // From here on the bus closes the socket.
  result = sd_bus_negotiate_fds(bus, 1);
  if (result >= 0) result = sd_bus_start(bus);
  if (result < 0) {
    whorl_close(bus);
    return result;
  }
  *made = bus;
  return 0;
}

int whorl_step(sd_bus *bus, whorl_deadline deadline) {
  int left = whorl_milliseconds_left(deadline);
  if (left == 0) return -ETIMEDOUT;
  int result = sd_bus_process(bus, NULL);
  if (result != 0) return result < 0 ? result : 0;
  // sd-bus has its own deadline, which is now if the other side has closed.
  whorl_deadline wanted = deadline;
  if (sd_bus_get_timeout(bus, &wanted.microseconds) < 0) return -ECONNRESET;
  if (wanted.microseconds < deadline.microseconds) left = whorl_milliseconds_left(wanted);
  int events = sd_bus_get_events(bus);
  const whorl_watch *watch = deadline.watch;
  struct pollfd polled[] = {
    {.fd = sd_bus_get_fd(bus), .events = (short)events},
    {.fd = watch == NULL ? -1 : watch->descriptors[0], .events = POLLIN},
    {.fd = watch == NULL ? -1 : watch->descriptors[1], .events = POLLIN}};
  if (polled[0].fd < 0 || events < 0) return -ECONNRESET;
  if (poll(polled, 3, left) < 0) return errno == EINTR ? 0 : -errno;
  if (polled[1].revents == 0 && polled[2].revents == 0) return 0;
  return watch->ends == NULL || watch->ends(watch->data) ? -EINTR : 0;
}

void whorl_close(sd_bus *bus) {
  // Not sd_bus_flush_close_unref: a flush would wait for the other side.
  sd_bus_close(bus);
  sd_bus_unref(bus);
}
