#include "interrupt.h"

#include <poll.h>
#include <sys/signalfd.h>
#include <unistd.h>

static const int ending[] = {SIGINT, SIGQUIT, SIGTERM, SIGHUP};
static const int stopping[] = {SIGTSTP, SIGCONT};

static whorl_interrupt block(const sigset_t *signals) {
  whorl_interrupt interrupt = {.blocked = *signals};
  pthread_sigmask(SIG_BLOCK, signals, &interrupt.before);
  interrupt.descriptor = signalfd(-1, signals, SFD_CLOEXEC | SFD_NONBLOCK);
  if (interrupt.descriptor < 0) pthread_sigmask(SIG_SETMASK, &interrupt.before, NULL);
  return interrupt;
}

whorl_interrupt whorl_interrupt_begin(void) {
  sigset_t signals;
  sigemptyset(&signals);
  sigaddset(&signals, SIGINT);
  return block(&signals);
}

void whorl_interrupt_end(whorl_interrupt interrupt) {
  if (interrupt.descriptor < 0) return;
  struct signalfd_siginfo signal;
  while (read(interrupt.descriptor, &signal, sizeof signal) > 0) continue;
  whorl_interrupt_end_at_terminal(interrupt);
}

// MARK: At a terminal

static void add(sigset_t *signals, const int *numbers, size_t count, const sigset_t *blocked) {
  for (size_t index = 0; index < count; index++) {
    struct sigaction action;
    int is_ignored = sigaction(numbers[index], NULL, &action) == 0 && action.sa_handler == SIG_IGN;
    if (!is_ignored && !sigismember(blocked, numbers[index])) sigaddset(signals, numbers[index]);
  }
}

whorl_interrupt whorl_interrupt_at_terminal(void) {
  sigset_t signals, blocked;
  sigemptyset(&signals);
  pthread_sigmask(SIG_SETMASK, NULL, &blocked);
  add(&signals, ending, sizeof ending / sizeof *ending, &blocked);
  add(&signals, stopping, sizeof stopping / sizeof *stopping, &blocked);
  return block(&signals);
}

int whorl_interrupt_is_pending(const whorl_interrupt *interrupt) {
  struct pollfd polled = {.fd = interrupt->descriptor, .events = POLLIN};
  return poll(&polled, 1, 0) > 0;
}

int whorl_interrupt_deliver(const whorl_interrupt *interrupt) {
  sigset_t pending;
  sigpending(&pending);
  int ends = 0;
  for (size_t index = 0; index < sizeof ending / sizeof *ending; index++)
    ends |= sigismember(&interrupt->blocked, ending[index]) && sigismember(&pending, ending[index]);
  pthread_sigmask(SIG_SETMASK, &interrupt->before, NULL);
  pthread_sigmask(SIG_BLOCK, &interrupt->blocked, NULL);
  return ends;
}

void whorl_interrupt_end_at_terminal(whorl_interrupt interrupt) {
  if (interrupt.descriptor < 0) return;
  close(interrupt.descriptor);
  pthread_sigmask(SIG_SETMASK, &interrupt.before, NULL);
}
