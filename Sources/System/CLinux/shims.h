#pragma once
#include <errno.h>
#include <fcntl.h>
#include <libintl.h>
#include <malloc.h>
#include <signal.h>
#include <spawn.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/eventfd.h>
#include <sys/prctl.h>
#include <sys/random.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/vfs.h>
#include <sys/wait.h>
#include <sys/xattr.h>
#include <time.h>
#include <unistd.h>

// `prctl` is variadic and is not imported.
static inline int whorl_refuse_inspection(void) { return prctl(PR_SET_DUMPABLE, 0, 0, 0, 0); }
static inline int whorl_name_process(const char *name) { return prctl(PR_SET_NAME, name, 0, 0, 0); }

// `malloc.h` and `libintl.h` are in no module.
static inline int whorl_use_one_heap(void) { return mallopt(M_ARENA_MAX, 1); }

// The resource names are an enumeration that Swift does not convert to the `int` parameter.
static inline int whorl_get_core_limit(struct rlimit *limit) { return getrlimit(RLIMIT_CORE, limit); }
static inline int whorl_set_core_limit(const struct rlimit *limit) { return setrlimit(RLIMIT_CORE, limit); }
static inline int whorl_get_file_limit(struct rlimit *limit) { return getrlimit(RLIMIT_NOFILE, limit); }
static inline int whorl_set_file_limit(const struct rlimit *limit) { return setrlimit(RLIMIT_NOFILE, limit); }

// `timespec` belongs to different modules in debug and release builds, so that no single import works for both.
static inline int whorl_wait_for_signal(const sigset_t *set, int milliseconds) {
  const struct timespec limit = {milliseconds / 1000, milliseconds % 1000 * 1000000L};
  return sigtimedwait(set, (siginfo_t *)0, &limit);
}

// glibc 2.34 has it, but declares it only under _GNU_SOURCE, which Swift's Glibc module is built without.
extern int posix_spawn_file_actions_addclosefrom_np(posix_spawn_file_actions_t *actions, int from);

// glibc declares O_PATH only under _GNU_SOURCE. The value is the same on x86, ARM and RISC-V.
static const int whorl_o_path = 010000000;

// glibc declares statx only under _GNU_SOURCE. The structure's layout and the two flags are those of <linux/stat.h> and
// <linux/fcntl.h>. 0 where the kernel does not report the mount id.
static inline uint64_t whorl_mount_id(int descriptor) {
  struct {
    uint32_t mask, others[35];
    uint64_t mount, rest[13];
  } status = {0};
  if (syscall(SYS_statx, descriptor, "", 0x1000 /* AT_EMPTY_PATH */, 0x1000u /* STATX_MNT_ID */, &status) != 0) return 0;
  return status.mask & 0x1000u ? status.mount : 0;
}

// glibc declares renameat2 only under _GNU_SOURCE. Fails with EEXIST where the new name is taken.
static inline int whorl_rename_without_replacing(const char *from, const char *to) {
  return (int)syscall(SYS_renameat2, AT_FDCWD, from, AT_FDCWD, to, 1u /* RENAME_NOREPLACE */);
}

// Volatile reads, which Swift does not have, keep the compiler from stopping at the first difference.
static inline bool whorl_is_equal_in_constant_time(const void *first, const void *second, size_t count) {
  const volatile unsigned char *a = (const volatile unsigned char *)first, *b = (const volatile unsigned char *)second;
  unsigned char difference = 0;
  for (size_t i = 0; i < count; i++) difference |= a[i] ^ b[i];
  return difference == 0;
}

// `memfd_create` and the seals are declared for _GNU_SOURCE alone, which Swift's import of Glibc is built without; the
// numbers are the kernel's (linux/memfd.h, linux/fcntl.h). `fcntl` and `syscall` are variadic and are not imported.
enum { whorl_f_add_seals = 1033, whorl_f_get_seals = 1034, whorl_mfd_cloexec = 1, whorl_mfd_allow_sealing = 2 };
static const int whorl_all_seals = 0x1 | 0x2 | 0x4 | 0x8; // seal, shrink, grow, write
static inline int whorl_memory_file(const char *name) {
  return (int)syscall(SYS_memfd_create, name, whorl_mfd_cloexec | whorl_mfd_allow_sealing);
}
static inline int whorl_add_seals(int file, int seals) { return fcntl(file, whorl_f_add_seals, seals); }
static inline int whorl_get_seals(int file) { return fcntl(file, whorl_f_get_seals); }

// glibc has functions for pidfds only since 2.36, and POSIX_SPAWN_SETSID is declared for _GNU_SOURCE alone. The numbers
// are the kernel's, the same on every architecture.
static const int whorl_spawn_in_own_session = 0x80;
static inline int whorl_open_process(pid_t pid) { return (int)syscall(434 /* pidfd_open */, pid, 0); }
static inline int whorl_signal_process(int pidfd, int signal) {
  return (int)syscall(424 /* pidfd_send_signal */, pidfd, signal, (void *)0, 0);
}

// Lowers what this process, and the programs that it starts from then on, may use. Only the soft limits change: a process
// that reaches one gets a signal or an error that says which.
static inline int whorl_lower_limit(int resource, rlim_t value) {
  struct rlimit limit;
  if (getrlimit(resource, &limit) != 0) return -1;
  if (limit.rlim_cur > value) limit.rlim_cur = value;
  return setrlimit(resource, &limit);
}

// A start of a program for which posix_spawn has no attribute: within limits, from the program's first instruction.
struct whorl_bounded_start {
  const char *path;
  char *const *arguments;
  char *const *environment;
  // Descriptors of this process, and their numbers in the program. The program gets no others.
  const int *descriptors;
  const int *numbers;
  int count;
  // The program itself, open and close-on-exec.
  int program;
  bool in_own_session;
  uint64_t memory, processor_time, file_size;
};

static inline bool whorl_keeps(const struct whorl_bounded_start *start, int descriptor) {
  if (descriptor == start->program) return true;
  for (int index = 0; index < start->count; index++)
    if (start->numbers[index] == descriptor) return true;
  return false;
}

// The part that runs in the child. Returns an errno if the program cannot be executed. The child shares this process's
// memory (vfork(2)), so nothing here takes a lock or allocates.
static inline int whorl_become(const struct whorl_bounded_start *start) {
  if (start->in_own_session && setsid() < 0) return errno;
  // RLIMIT_DATA: what a process has for itself alone, without files that are mapped.
  if (whorl_lower_limit(RLIMIT_DATA, start->memory) != 0) return errno;
  if (whorl_lower_limit(RLIMIT_CPU, start->processor_time) != 0) return errno;
  if (whorl_lower_limit(RLIMIT_FSIZE, start->file_size) != 0) return errno;
  int highest = start->program > 2 ? start->program : 2;
  for (int index = 0; index < start->count; index++) {
    const int from = start->descriptors[index], to = start->numbers[index];
    if ((from == to ? fcntl(to, F_SETFD, 0) : dup2(from, to)) < 0) return errno;
    if (to > highest) highest = to;
  }
  for (int descriptor = 3; descriptor < highest; descriptor++)
    if (!whorl_keeps(start, descriptor)) close(descriptor);
  if (syscall(436 /* close_range */, highest + 1, ~0u, 0) != 0)
    for (int descriptor = highest + 1; descriptor < getdtablesize(); descriptor++) close(descriptor);
  struct sigaction standard = {0};
  for (int number = 1; number < NSIG; number++) sigaction(number, &standard, (struct sigaction *)0);
  sigset_t none;
  sigemptyset(&none);
  sigprocmask(SIG_SETMASK, &none, (sigset_t *)0);
  execve(start->path, start->arguments, start->environment);
  return errno;
}

// The number of the process; -1 with an errno where it could not be started.
static inline pid_t whorl_start_bounded(const struct whorl_bounded_start *start) {
  // This process's signal handlers must not run in the child.
  sigset_t all, before;
  sigfillset(&all);
  sigprocmask(SIG_SETMASK, &all, &before);
  volatile int code = 0;
  const pid_t child = vfork();
  if (child == 0) {
    code = whorl_become(start);
    _exit(127);
  }
  if (child < 0) code = errno;
  sigprocmask(SIG_SETMASK, &before, (sigset_t *)0);
  if (code == 0) return child;
  if (child > 0) waitpid(child, (int *)0, 0);
  errno = code;
  return -1;
}

// `fcntl` is variadic, and F_SETSIG is declared for _GNU_SOURCE alone. After this call the kernel kills the process when
// the other end of the socket is closed, or when something is written to it.
static inline int whorl_kill_on_hangup(int socket, pid_t process) {
  if (fcntl(socket, F_SETOWN, process) != 0 || fcntl(socket, 10 /* F_SETSIG */, SIGKILL) != 0) return -1;
  return fcntl(socket, F_SETFL, fcntl(socket, F_GETFL) | O_ASYNC);
}

// A memory file of this size, which nobody can make longer.
static inline int whorl_bounded_memory_file(const char *name, off_t size) {
  const int file = whorl_memory_file(name);
  if (file < 0) return -1;
  if (ftruncate(file, size) == 0 && whorl_add_seals(file, 0x2 | 0x4 /* shrink, grow */) == 0) return file;
  close(file);
  return -1;
}

// `siginfo_t` names its fields by macros, which Swift does not import. `code` is 0 while the child runs.
static const int whorl_child_exited = CLD_EXITED;
static inline int whorl_reap_process(int pidfd, int *code, int *status) {
  siginfo_t information = {0};
  const int result = waitid((idtype_t)3 /* P_PIDFD */, (id_t)pidfd, &information, WEXITED | WNOHANG);
  *code = information.si_code;
  *status = information.si_status;
  return result;
}
static inline bool whorl_is_child(int pidfd) {
  siginfo_t information = {0};
  return waitid((idtype_t)3 /* P_PIDFD */, (id_t)pidfd, &information, WEXITED | WNOHANG | WNOWAIT) == 0;
}

// `struct ucred` is declared for _GNU_SOURCE alone. The user is -1 if the descriptor is no connected Unix socket. For a
// socket that connected to a listening one, it is the user who called listen(2).
static inline uid_t whorl_socket_peer_user(int socket) {
  struct {
    pid_t process;
    uid_t user;
    gid_t group;
  } peer = {-1, (uid_t)-1, 0};
  socklen_t size = sizeof peer;
  return getsockopt(socket, SOL_SOCKET, SO_PEERCRED, &peer, &size) == 0 ? peer.user : (uid_t)-1;
}

// The process number is 0 for a process outside this one's namespace,
// and -1 if the descriptor is no connected Unix socket.
static inline pid_t whorl_socket_peer(int socket) {
  struct {
    pid_t process;
    uid_t user;
    gid_t group;
  } peer = {-1, 0, 0};
  socklen_t size = sizeof peer;
  return getsockopt(socket, SOL_SOCKET, SO_PEERCRED, &peer, &size) == 0 ? peer.process : -1;
}
