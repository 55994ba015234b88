#include "child.h"

#include <errno.h>
#include <fcntl.h>
#include <grp.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#ifndef WHORL_PROGRAM
#error "WHORL_PROGRAM is the path of whorl, which the build gives"
#endif

enum { most_groups = 65536, killed_milliseconds = 200 };

typedef struct {
  uid_t user;
  gid_t group;
  const gid_t *groups;
  size_t count;
  char *const *environment;
} identity;

// The 32-bit calls of old architectures take 16-bit ids under the short names.
#ifdef SYS_setgroups32
#define SETGROUPS SYS_setgroups32
#define SETRESGID SYS_setresgid32
#define SETRESUID SYS_setresuid32
#else
#define SETGROUPS SYS_setgroups
#define SETRESGID SYS_setresgid
#define SETRESUID SYS_setresuid
#endif

static void close_all(void) {
  if (syscall(SYS_close_range, 3, ~0U, 0) == 0) return;
  struct rlimit limit;
  int end = getrlimit(RLIMIT_NOFILE, &limit) == 0 && limit.rlim_cur < 65536 ? (int)limit.rlim_cur : 65536;
  for (int descriptor = 3; descriptor < end; descriptor++) close(descriptor);
}

// Runs in the child. The login program may have threads, so nothing here takes a lock or allocates (signal-safety(7)).
// The ids are set by system calls, since glibc's functions would signal other threads.
_Noreturn static void become_program(const identity *identity) {
  sigset_t none;
  sigemptyset(&none);
  for (int number = 1; number < NSIG; number++) signal(number, SIG_DFL);
  sigprocmask(SIG_SETMASK, &none, NULL);
  int null = open("/dev/null", O_RDWR);
  if (null < 0 || dup2(null, 0) < 0 || dup2(null, 1) < 0 || dup2(null, 2) < 0) _exit(126);
  close_all();
  // A process group of its own, so that it can be killed with all that it starts.
  if (setsid() < 0 || chdir("/") != 0) _exit(126);
  umask(077);
  if (syscall(SETGROUPS, identity->count, identity->groups) != 0 ||
      syscall(SETRESGID, identity->group, identity->group, identity->group) != 0 ||
      syscall(SETRESUID, identity->user, identity->user, identity->user) != 0)
    _exit(126);
  // Fail if root's rights could be regained.
  if (syscall(SETRESUID, -1, 0, -1) == 0) _exit(126);
  char *const arguments[] = {"whorl", "login", "open", "--at-login", NULL};
  execve(WHORL_PROGRAM, arguments, identity->environment);
  _exit(127);
}

// Whether the process has ended by the deadline.
static int has_ended(int handle, whorl_deadline deadline) {
  for (;;) {
    struct pollfd polled = {.fd = handle, .events = POLLIN};
    int left = whorl_milliseconds_left(deadline);
    int result = poll(&polled, 1, left);
    if (result > 0) return 1;
    if ((result == 0 && left == 0) || (result < 0 && errno != EINTR)) return 0;
  }
}

// Waits for the child by a pidfd. A login program that waits for all of its children may reap this one first, and the
// process ID may be reused.
static int wait_for(pid_t child, whorl_deadline deadline) {
  int handle = (int)syscall(SYS_pidfd_open, child, 0);
  // The login program has reaped it already, and another process may have its ID.
  if (handle < 0 && errno == ESRCH) return -ECHILD;
  int ended = handle >= 0 && has_ended(handle, deadline);
  if (!ended) {
    // Kills what it has started as well, by its process group.
    kill(-child, SIGKILL);
    if (handle >= 0) syscall(SYS_pidfd_send_signal, handle, SIGKILL, NULL, 0);
    else kill(child, SIGKILL);
    if (handle >= 0) has_ended(handle, whorl_deadline_in(killed_milliseconds));
  }
  if (handle >= 0) close(handle);
  int status = 0;
  // Do not block on a child that the kernel does not end.
  pid_t waited = waitpid(child, &status, WNOHANG);
  if (!ended) return -ETIMEDOUT;
  if (waited != child) return -ECHILD;
  return WIFEXITED(status) ? WEXITSTATUS(status) : -EINTR;
}

int whorl_child_run(const struct passwd *user, const char *runtime, whorl_deadline deadline) {
  gid_t *groups = calloc(most_groups, sizeof *groups);
  char *home = NULL, *folder = NULL;
  int count = most_groups, result = -ENOMEM;
  if (groups != NULL && asprintf(&home, "HOME=%s", user->pw_dir) < 0) home = NULL;
  if (home != NULL && asprintf(&folder, "XDG_RUNTIME_DIR=%s", runtime) < 0) folder = NULL;
  if (folder != NULL) result = getgrouplist(user->pw_name, user->pw_gid, groups, &count) < 0 ? -EOVERFLOW : 0;
  if (result == 0) {
    char *environment[] = {home, folder, "PATH=/usr/local/bin:/usr/bin:/bin", NULL};
    identity identity = {user->pw_uid, user->pw_gid, groups, (size_t)count, environment};
    pid_t child = fork();
    if (child == 0) become_program(&identity);
    result = child < 0 ? -errno : wait_for(child, deadline);
  }
  free(folder);
  free(home);
  free(groups);
  return result;
}
