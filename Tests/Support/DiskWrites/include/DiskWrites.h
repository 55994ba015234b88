#ifndef WHORL_DISK_WRITES_H
#define WHORL_DISK_WRITES_H

#include <stddef.h>
#include <sys/types.h>

// Reports to a test each call of its own process that changes files in two folders, before the call is made. The calls
// are write, pwrite, fsync, fdatasync, ftruncate, rename and unlink, also by libraries: this program's functions of
// these names replace the C library's.

/// A call that is about to be made. Its pointers are valid until the callback returns.
typedef struct {
  /// The name of the call.
  const char *call;
  /// The file, or one of the folders themselves.
  const char *path;
  /// The new name in rename; NULL for every other call.
  const char *new_path;
  /// The bytes of a write; NULL for every other call.
  const void *bytes;
  /// Their number; the new length in ftruncate.
  size_t count;
  /// The offset of the first byte in the file.
  off_t offset;
} whorl_disk_write;

/// - Parameter context: as given by the test.
typedef void (*whorl_disk_writes_callback)(void *context, const whorl_disk_write *write);

/// Calls the function from now on. Both folders are full paths, and are copied. One test at a time can watch.
void whorl_disk_writes_watch(const char *folder, const char *other, whorl_disk_writes_callback callback, void *context);

/// Stops watching. No callback is running when this returns, if the caller made the last change itself.
void whorl_disk_writes_stop(void);

#endif
