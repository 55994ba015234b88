// Tells the system service which file a process runs. Reading /proc/PID/exe of another user's process takes
// CAP_SYS_PTRACE, with which a program can read the memory of every process. So this program is kept small: it serves
// one user on the socket that systemd passes, and its seccomp filter allows little more than reading symbolic links and
// the status of files.
//
// A request is one connection: a process number (pid_t). The answer is nothing, or the file's device, inode and owner, a word
// that says what is known of its path, and the path, with a space between each, and the end of the connection. The words:
// `at` (the file is at this path), `was` (the process says so of a file that is not there any more, as after an upgrade),
// `elsewhere` (another file is at the path, or the process has mounts of its own, as in a sandbox; no path follows), and
// `unknown` (in a folder that is closed to this program; no path follows). The service holds a pidfd of the process, and
// checks itself that the number has not been reused.
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <poll.h>
#include <pwd.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#if defined(__x86_64__)
#define ARCHITECTURE AUDIT_ARCH_X86_64
#elif defined(__aarch64__)
#define ARCHITECTURE AUDIT_ARCH_AARCH64
#elif defined(__riscv)
#define ARCHITECTURE AUDIT_ARCH_RISCV64
#else
#error "an architecture whose system calls are not known here"
#endif

// The first descriptor that systemd passes (sd_listen_fds(3)).
enum { LISTENER = 3 };
// The program ends after this time without a request. systemd starts it again for the next one.
enum { IDLE_SECONDS = 30 };
// How long a client may take to send its request.
enum { REQUEST_SECONDS = 1 };

static int fail(int status, const char *problem) {
  fprintf(stderr, "whorl-program-path: %s\n", problem);
  return status;
}

static int is_listening(int descriptor) {
  int kind = 0, domain = 0, listens = 0;
  socklen_t size = sizeof kind;
  if (getsockopt(descriptor, SOL_SOCKET, SO_TYPE, &kind, &size) != 0 || kind != SOCK_STREAM) return 0;
  size = sizeof domain;
  if (getsockopt(descriptor, SOL_SOCKET, SO_DOMAIN, &domain, &size) != 0 || domain != AF_UNIX) return 0;
  size = sizeof listens;
  return getsockopt(descriptor, SOL_SOCKET, SO_ACCEPTCONN, &listens, &size) == 0 && listens;
}

// Installs a filter: from here on, every system call except those that `serve` needs ends the process.
static int confine(void) {
#define ALLOW(call) BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, (call), 0, 1), BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW)
  struct sock_filter filter[] = {
      BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, arch)),
      BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, ARCHITECTURE, 1, 0),
      BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_KILL_PROCESS),
      BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
      ALLOW(SYS_ppoll),
      ALLOW(SYS_accept4),
      ALLOW(SYS_getsockopt),
      ALLOW(SYS_recvfrom),
      ALLOW(SYS_readlinkat),
      ALLOW(SYS_newfstatat),
      ALLOW(SYS_sendto),
      ALLOW(SYS_close),
      ALLOW(SYS_restart_syscall),
      ALLOW(SYS_exit_group),
      BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_KILL_PROCESS),
  };
#undef ALLOW
  struct sock_fprog program = {sizeof filter / sizeof *filter, filter};
  struct rlimit none = {0, 0};
  return clearenv() == 0 && setrlimit(RLIMIT_CORE, &none) == 0 && prctl(PR_SET_DUMPABLE, 0, 0, 0, 0) == 0 &&
         prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0 && prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program) == 0;
}

// Waits until the descriptor is readable or has a connection to accept. False after the time limit.
static int is_ready(int descriptor, int seconds) {
  struct pollfd waiting = {.fd = descriptor, .events = POLLIN};
  struct timespec limit = {.tv_sec = seconds};
  int ready;
  do ready = ppoll(&waiting, 1, &limit, NULL);
  while (ready < 0 && errno == EINTR);
  return ready > 0;
}

// Whether the process is in the mount namespace of the first process or of this one, in which only root mounts.
static int has_machines_mounts(pid_t process) {
  char link[64], own[64], other[64];
  snprintf(link, sizeof link, "/proc/%d/ns/mnt", (int)process);
  ssize_t length = readlinkat(AT_FDCWD, link, own, sizeof own);
  static const char *const trusted[] = {"/proc/1/ns/mnt", "/proc/self/ns/mnt"};
  for (size_t place = 0; place < 2; place++) {
    ssize_t expected = readlinkat(AT_FDCWD, trusted[place], other, sizeof other);
    if (length > 0 && length == expected && memcmp(own, other, (size_t)length) == 0) return 1;
  }
  return 0;
}

static int is_same(const char *path, const struct stat *file) {
  struct stat found;
  return fstatat(AT_FDCWD, path, &found, 0) == 0 && found.st_dev == file->st_dev && found.st_ino == file->st_ino;
}

// Where the mounts of the first process begin, which may have folders that are hidden from this program, such as /tmp.
static const char first_root[] = "/proc/1/root";

// Whether this path is that of the file on this machine: the path that the kernel tells is made of the mounts through which
// the file was opened, and every user can make a mount namespace in which a file of theirs is at any path.
static int leads_to(const char *path, const struct stat *file) {
  char full[PATH_MAX + sizeof first_root];
  snprintf(full, sizeof full, "%s%s", first_root, path);
  return is_same(full, file) || is_same(path, file);
}

// Whether this path is in a folder of the file's owner that is closed to this program. Nobody else could put a file there,
// and the owner could put this one there. Root's folders do not count: a user can mount a file of root's anywhere.
static int is_in_closed_folder(const char *path, const struct stat *file) {
  char full[PATH_MAX + sizeof first_root];
  int length = snprintf(full, sizeof full, "%s%s", first_root, path);
  struct stat found;
  uid_t owner = 0;
  for (int end = (int)sizeof first_root; end <= length; end++) {
    if (full[end] != '/' && full[end] != '\0') continue;
    char kept = full[end];
    full[end] = '\0';
    int failed = fstatat(AT_FDCWD, full, &found, 0) != 0;
    int problem = errno;
    full[end] = kept;
    if (failed) return problem == EACCES && owner != 0 && owner == file->st_uid;
    owner = found.st_uid;
  }
  return 0;
}

// What is known of the path of a process's file, which this may shorten: a word of the protocol.
static const char *knowledge(pid_t process, char *path, const struct stat *file) {
  static const char mark[] = " (deleted)";
  size_t length = strlen(path), marked = sizeof mark - 1;
  if (leads_to(path, file)) return "at";
  if (!has_machines_mounts(process)) return "elsewhere";
  // The kernel adds the mark for a file that was replaced or removed. What stands before it is only what the process says.
  if (length > marked && strcmp(path + length - marked, mark) == 0) {
    path[length - marked] = '\0';
    return path[0] == '/' && strncmp(path, "/memfd:", 7) != 0 ? "was" : "elsewhere";
  }
  if (is_in_closed_folder(path, file)) return "at";
  struct stat found;
  char full[PATH_MAX + sizeof first_root];
  snprintf(full, sizeof full, "%s%s", first_root, path);
  if (fstatat(AT_FDCWD, full, &found, 0) == 0 || errno != EACCES) return "elsewhere";
  // Those mounts are closed to this program, as in a container. Its own may have another file at the path.
  return fstatat(AT_FDCWD, path, &found, 0) == 0 ? "elsewhere" : "unknown";
}

static void answer(int client, uid_t user) {
  struct ucred peer;
  socklen_t size = sizeof peer;
  if (getsockopt(client, SOL_SOCKET, SO_PEERCRED, &peer, &size) != 0 || peer.uid != user) return;
  pid_t process = 0;
  // A Unix socket delivers such a small write in one piece.
  if (!is_ready(client, REQUEST_SECONDS) || recv(client, &process, sizeof process, 0) != sizeof process) return;
  if (process <= 0) return;
  char link[64], path[PATH_MAX], text[PATH_MAX + 96];
  snprintf(link, sizeof link, "/proc/%d/exe", (int)process);
  struct stat file;
  if (fstatat(AT_FDCWD, link, &file, 0) != 0) return;
  ssize_t length = readlinkat(AT_FDCWD, link, path, sizeof path);
  // A path that fills the buffer may be cut off.
  if (length <= 0 || length >= (ssize_t)sizeof path) return;
  path[length] = '\0';
  const char *word = knowledge(process, path, &file);
  int is_told = strcmp(word, "at") == 0 || strcmp(word, "was") == 0;
  length = snprintf(text, sizeof text, "%ju %ju %ju %s %s", (uintmax_t)file.st_dev, (uintmax_t)file.st_ino,
                    (uintmax_t)file.st_uid, word, is_told ? path : "");
  // Ignore errors: the client may have disconnected.
  (void)!send(client, text, (size_t)length, MSG_NOSIGNAL | MSG_DONTWAIT);
}

static void serve(uid_t user) {
  while (is_ready(LISTENER, IDLE_SECONDS)) {
    int client = accept4(LISTENER, NULL, NULL, SOCK_CLOEXEC);
    if (client < 0) continue;
    answer(client, user);
    close(client);
  }
}

int main(int count, char **words) {
  if (count != 3 || strcmp(words[1], "--unit-for") != 0)
    return fail(64, "started by systemd; usage: whorl-program-path --unit-for USER");
  // Belongs to libc and is valid until the next such call (transfer none).
  const struct passwd *user = getpwnam(words[2]);
  if (user == NULL) return fail(64, "there is no such user");
  uid_t served = user->pw_uid;
  if (!is_listening(LISTENER)) return fail(64, "systemd has passed no listening socket");
  if (!confine()) return fail(70, "cannot be confined");
  serve(served);
  _exit(0);
}
