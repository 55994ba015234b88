#pragma once
#include <errno.h>
#include <string.h>
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

// One descriptor and one byte, in a message of a SOCK_SEQPACKET pair. The macros for control messages are not imported.
union whorl_one_descriptor {
  struct cmsghdr header;
  char bytes[CMSG_SPACE(sizeof(int))];
};

// Does not wait. 0, or an errno: EAGAIN where the other side reads too slowly. The descriptor stays the caller's.
static inline int whorl_send_descriptor(int socket, int descriptor) {
  char byte = 0;
  struct iovec content = {.iov_base = &byte, .iov_len = 1};
  union whorl_one_descriptor control = {0};
  struct msghdr message = {
    .msg_iov = &content, .msg_iovlen = 1, .msg_control = &control, .msg_controllen = sizeof control};
  struct cmsghdr *const header = CMSG_FIRSTHDR(&message);
  header->cmsg_level = SOL_SOCKET;
  header->cmsg_type = SCM_RIGHTS;
  header->cmsg_len = CMSG_LEN(sizeof(int));
  memcpy(CMSG_DATA(header), &descriptor, sizeof descriptor);
  return sendmsg(socket, &message, MSG_DONTWAIT | MSG_NOSIGNAL) < 0 ? errno : 0;
}

// Does not wait. 0, or an errno: EAGAIN where there is no message, EPIPE where the other side has ended. The descriptor is
// the caller's, close-on-exec, and -1 where the message had none.
static inline int whorl_receive_descriptor(int socket, int *descriptor) {
  char byte = 0;
  struct iovec content = {.iov_base = &byte, .iov_len = 1};
  union whorl_one_descriptor control = {0};
  struct msghdr message = {
    .msg_iov = &content, .msg_iovlen = 1, .msg_control = &control, .msg_controllen = sizeof control};
  *descriptor = -1;
  const ssize_t count = recvmsg(socket, &message, MSG_DONTWAIT | MSG_CMSG_CLOEXEC);
  if (count <= 0) return count == 0 ? EPIPE : errno;
  const struct cmsghdr *const header = CMSG_FIRSTHDR(&message);
  if (header != NULL && header->cmsg_level == SOL_SOCKET && header->cmsg_type == SCM_RIGHTS &&
      header->cmsg_len == CMSG_LEN(sizeof(int)))
    memcpy(descriptor, CMSG_DATA(header), sizeof *descriptor);
  return 0;
}
