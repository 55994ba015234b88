#define _GNU_SOURCE
#include "DiskWrites.h"

#include <fcntl.h>
#include <limits.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/types.h>
#include <unistd.h>

static atomic_bool watching;
static char folders[2][PATH_MAX];
static whorl_disk_writes_callback callback;
static void *context;

void whorl_disk_writes_watch(
    const char *folder, const char *other, whorl_disk_writes_callback function, void *value) {
  snprintf(folders[0], sizeof folders[0], "%s/", folder);
  snprintf(folders[1], sizeof folders[1], "%s/", other);
  callback = function;
  context = value;
  atomic_store(&watching, true);
}

void whorl_disk_writes_stop(void) { atomic_store(&watching, false); }

static void tell_path(whorl_disk_write write) {
  if (!atomic_load(&watching)) return;
  for (int i = 0; i < 2; i++) {
    size_t length = strlen(folders[i]) - 1;
    char end = strncmp(write.path, folders[i], length) == 0 ? write.path[length] : 1;
    if (end == '/' || end == 0) callback(context, &write);
  }
}

static void tell_descriptor(int descriptor, whorl_disk_write write) {
  if (!atomic_load(&watching)) return;
  char link[64], path[PATH_MAX];
  snprintf(link, sizeof link, "/proc/self/fd/%d", descriptor);
  ssize_t length = readlink(link, path, sizeof path - 1);
  if (length < 0) return;
  path[length] = 0;
  write.path = path;
  tell_path(write);
}

ssize_t write(int descriptor, const void *bytes, size_t count) {
  // Before the call: where it will write.
  off_t offset = atomic_load(&watching) ? lseek(descriptor, 0, SEEK_CUR) : 0;
  if (offset >= 0) tell_descriptor(descriptor, (whorl_disk_write){.call = "write", .bytes = bytes, .count = count, .offset = offset});
  return syscall(SYS_write, descriptor, bytes, count);
}

ssize_t pwrite(int descriptor, const void *bytes, size_t count, off_t offset) {
  tell_descriptor(descriptor, (whorl_disk_write){.call = "pwrite", .bytes = bytes, .count = count, .offset = offset});
  return syscall(SYS_pwrite64, descriptor, bytes, count, offset);
}

ssize_t pwrite64(int descriptor, const void *bytes, size_t count, off64_t offset) {
  return pwrite(descriptor, bytes, count, offset);
}

int fsync(int descriptor) {
  tell_descriptor(descriptor, (whorl_disk_write){.call = "fsync"});
  return (int)syscall(SYS_fsync, descriptor);
}

int fdatasync(int descriptor) {
  tell_descriptor(descriptor, (whorl_disk_write){.call = "fdatasync"});
  return (int)syscall(SYS_fdatasync, descriptor);
}

int ftruncate(int descriptor, off_t length) {
  tell_descriptor(descriptor, (whorl_disk_write){.call = "ftruncate", .count = (size_t)length});
  return (int)syscall(SYS_ftruncate, descriptor, length);
}

int ftruncate64(int descriptor, off64_t length) { return ftruncate(descriptor, length); }

int rename(const char *from, const char *to) {
  tell_path((whorl_disk_write){.call = "rename", .path = from, .new_path = to});
  return (int)syscall(SYS_renameat, AT_FDCWD, from, AT_FDCWD, to);
}

int unlink(const char *path) {
  tell_path((whorl_disk_write){.call = "unlink", .path = path});
  return (int)syscall(SYS_unlinkat, AT_FDCWD, path, 0);
}
