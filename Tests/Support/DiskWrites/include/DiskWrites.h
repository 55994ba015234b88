#ifndef WHORL_DISK_WRITES_H
#define WHORL_DISK_WRITES_H

// Tells a test of each call of its own process that changes files in two folders, before the call is made. The calls are
// write, pwrite, fsync, fdatasync, ftruncate, rename and unlink: those of the libraries too, since this program's functions
// of these names take the place of the C library's.

/// - Parameters:
///   - context: what the test gave.
///   - call: the name of the call.
///   - path: the file, or one of the folders themselves.
typedef void (*whorl_disk_writes_callback)(void *context, const char *call, const char *path);

/// Calls the function from now on. Both folders are full paths, and are copied. One test at a time can watch.
void whorl_disk_writes_watch(const char *folder, const char *other, whorl_disk_writes_callback callback, void *context);

/// Ends that. No call is under way when this returns, if the caller made the last change itself.
void whorl_disk_writes_stop(void);

#endif
