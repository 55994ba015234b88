#define _GNU_SOURCE
#include "TerminalGuard.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdlib.h>
#include <termios.h>
#include <unistd.h>

// Signals that always restore the terminal. A handler of the program is called after that.
static const int always[] = {SIGHUP, SIGINT,  SIGQUIT, SIGTERM, SIGTSTP, SIGILL,
                             SIGTRAP, SIGABRT, SIGBUS,  SIGFPE,  SIGSEGV, SIGSYS};
// Signals that end a process without a handler. If the program has a handler (for a timer, say), the terminal is not
// changed.
static const int where_fatal[] = {SIGUSR1, SIGUSR2,   SIGPIPE, SIGALRM, SIGSTKFLT, SIGXCPU,
                                  SIGXFSZ, SIGVTALRM, SIGPROF, SIGIO,   SIGPWR};

// This lock protects everything below. Code outside a handler blocks every signal before it takes the lock, so that a
// handler never waits for the thread that it interrupted.
static atomic_flag busy = ATOMIC_FLAG_INIT;
static _Atomic pid_t owner;
static bool begun;
static bool changed;
static bool paused;
static int terminal = -1;
static struct termios before;
static struct termios during;
static struct sigaction earlier[NSIG];
static bool handled[NSIG];

static void lock(void) {
  while (atomic_flag_test_and_set_explicit(&busy, memory_order_acquire)) {
  }
}

static void unlock(void) { atomic_flag_clear_explicit(&busy, memory_order_release); }

static void lock_blocking_signals(sigset_t *mask) {
  sigset_t all;
  sigfillset(&all);
  pthread_sigmask(SIG_BLOCK, &all, mask);
  lock();
}

static void unlock_restoring_signals(const sigset_t *mask) {
  unlock();
  pthread_sigmask(SIG_SETMASK, mask, NULL);
}

static bool in_foreground(void) { return tcgetpgrp(terminal) == getpgrp(); }

// In the background the terminal belongs to another program, and the shell has already restored its settings.
static void put_back(void) {
  if (changed && in_foreground()) tcsetattr(terminal, TCSANOW, &before);
  changed = false;
}

static void change(void) {
  if (!changed && !paused && in_foreground()) changed = tcsetattr(terminal, TCSANOW, &during) == 0;
}

static void on_signal(int number, siginfo_t *information, void *context);

static bool is_ours(const struct sigaction *action) {
  return action->sa_flags & SA_SIGINFO && action->sa_sigaction == on_signal;
}

static bool is_default(const struct sigaction *action) {
  return !(action->sa_flags & SA_SIGINFO) && action->sa_handler == SIG_DFL;
}

static void handle(int number) {
  struct sigaction action;
  sigaction(number, NULL, &earlier[number]);
  if (!(earlier[number].sa_flags & SA_SIGINFO) && earlier[number].sa_handler == SIG_IGN) return;
  action.sa_sigaction = on_signal;
  action.sa_flags = SA_SIGINFO | SA_RESTART | SA_ONSTACK;
  sigfillset(&action.sa_mask);
  handled[number] = sigaction(number, &action, NULL) == 0;
}

static void release(int number) {
  struct sigaction now;
  // The program may have set a handler of its own meanwhile.
  if (handled[number] && sigaction(number, NULL, &now) == 0 && is_ours(&now))
    sigaction(number, &earlier[number], NULL);
  handled[number] = false;
}

// Everything in this function is async-signal-safe (signal-safety(7)).
static void on_signal(int number, siginfo_t *information, void *context) {
  (void)context;
  int code = errno;
  struct sigaction action = earlier[number];
  // A forked child has a copy of all this, perhaps with the lock taken, but the terminal is its parent's.
  bool ours = atomic_load(&owner) == getpid();
  bool fatal = is_default(&action);
  if (ours) {
    lock();
    put_back();
    // Keep the lock if the signal may end or stop the process, so that no other thread changes the terminal meanwhile.
    // Release it for a handler of the program, which may call `exit`, which takes the lock.
    if (!fatal) unlock();
  }
  sigaction(number, &action, NULL);
  bool fault = information->si_code > 0 && (number == SIGSEGV || number == SIGBUS || number == SIGILL ||
                                            number == SIGFPE || number == SIGTRAP || number == SIGSYS);
  if (!fault) {
    sigset_t only, mask;
    sigemptyset(&only);
    sigaddset(&only, number);
    raise(number);
    pthread_sigmask(SIG_UNBLOCK, &only, &mask);
    // The process was stopped and continues, or the program has handled the signal.
    pthread_sigmask(SIG_SETMASK, &mask, NULL);
    if (ours) {
      if (!fatal) lock();
      if (begun) {
        struct sigaction now;
        sigaction(number, NULL, &now);
        if (now.sa_sigaction == action.sa_sigaction) handle(number);
        change();
      }
    }
  }
  // After a fault the instruction faults again, for the earlier handler.
  if (ours && (fatal || !fault)) unlock();
  errno = code;
}

static void at_exit(void) {
  if (atomic_load(&owner) == getpid()) terminal_guard_end();
}

static void register_at_exit(void) { atexit(at_exit); }

int terminal_guard_begin(int descriptor) {
  static pthread_once_t once = PTHREAD_ONCE_INIT;
  struct termios now;
  // Writing the current settings stops a background program until it is in the foreground.
  if (tcgetattr(descriptor, &now) != 0 || tcsetattr(descriptor, TCSADRAIN, &now) != 0) return errno;
  int own = fcntl(descriptor, F_DUPFD_CLOEXEC, 3);
  if (own < 0) return errno;
  pthread_once(&once, register_at_exit);
  sigset_t mask;
  lock_blocking_signals(&mask);
  int code = 0;
  if (begun) {
    code = EBUSY;
  } else if (tcgetattr(own, &before) != 0) {
    code = errno;
  } else {
    terminal = own;
    during = before;
    during.c_lflag &= ~(tcflag_t)(ECHO | ICANON);
    during.c_cc[VMIN] = 1;
    during.c_cc[VTIME] = 0;
    atomic_store(&owner, getpid());
    begun = true;
    for (size_t index = 0; index < sizeof always / sizeof *always; index++) handle(always[index]);
    for (size_t index = 0; index < sizeof where_fatal / sizeof *where_fatal; index++) {
      struct sigaction action;
      if (sigaction(where_fatal[index], NULL, &action) == 0 && is_default(&action)) handle(where_fatal[index]);
    }
    change();
  }
  unlock_restoring_signals(&mask);
  if (code != 0) close(own);
  return code;
}

void terminal_guard_end(void) {
  sigset_t mask;
  lock_blocking_signals(&mask);
  int own = -1;
  if (begun) {
    put_back();
    for (int number = 1; number < NSIG; number++) release(number);
    begun = false;
    own = terminal;
    terminal = -1;
  }
  unlock_restoring_signals(&mask);
  if (own >= 0) close(own);
}

void terminal_guard_pause(void) {
  sigset_t mask;
  lock_blocking_signals(&mask);
  paused = true;
  if (begun) put_back();
  unlock_restoring_signals(&mask);
}

void terminal_guard_resume(void) {
  sigset_t mask;
  lock_blocking_signals(&mask);
  paused = false;
  if (begun) change();
  unlock_restoring_signals(&mask);
}

void terminal_guard_refresh(void) {
  sigset_t mask;
  lock_blocking_signals(&mask);
  if (begun) change();
  unlock_restoring_signals(&mask);
}
