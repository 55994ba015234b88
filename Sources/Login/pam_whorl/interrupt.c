#include "interrupt.h"

#include <poll.h>
#include <stdlib.h>
#include <sys/signalfd.h>
#include <time.h>
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

// When the next module has shown its prompt.
enum { repeat_nanoseconds = 40000000 };

static void add(sigset_t *signals, const int *numbers, size_t count) {
  for (size_t index = 0; index < count; index++) {
    struct sigaction action;
    int is_ignored = sigaction(numbers[index], NULL, &action) == 0 && action.sa_handler == SIG_IGN;
    if (!is_ignored) sigaddset(signals, numbers[index]);
  }
}

whorl_interrupt whorl_interrupt_at_terminal(void) {
  sigset_t signals;
  sigemptyset(&signals);
  add(&signals, ending, sizeof ending / sizeof *ending);
  add(&signals, stopping, sizeof stopping / sizeof *stopping);
  return block(&signals);
}

int whorl_interrupt_is_pending(const whorl_interrupt *interrupt) {
  struct pollfd polled = {.fd = interrupt->descriptor, .events = POLLIN};
  return poll(&polled, 1, 0) > 0;
}

// Takes the pending signals that stay blocked without this module.
static void take(whorl_interrupt *interrupt) {
  const struct timespec none = {0};
  sigset_t own;
  sigandset(&own, &interrupt->blocked, &interrupt->before);
  int number;
  while ((number = sigtimedwait(&own, NULL, &none)) > 0) interrupt->taken = number;
}

int whorl_interrupt_deliver(whorl_interrupt *interrupt) {
  sigset_t pending;
  sigpending(&pending);
  int ends = 0;
  for (size_t index = 0; index < sizeof ending / sizeof *ending; index++)
    ends |= sigismember(&interrupt->blocked, ending[index]) && sigismember(&pending, ending[index]);
  take(interrupt);
  pthread_sigmask(SIG_SETMASK, &interrupt->before, NULL);
  pthread_sigmask(SIG_BLOCK, &interrupt->blocked, NULL);
  return ends;
}

static void forget(pam_handle_t *pamh, void *data, int status) {
  (void)pamh, (void)status;
  timer_delete(*(timer_t *)data);
  free(data);
}

void whorl_interrupt_repeat(pam_handle_t *pamh, int number) {
  struct sigevent event = {.sigev_notify = SIGEV_SIGNAL, .sigev_signo = number};
  const struct itimerspec once = {.it_value = {.tv_nsec = repeat_nanoseconds}};
  timer_t *timer = malloc(sizeof *timer);
  if (timer == NULL || timer_create(CLOCK_MONOTONIC, &event, timer) != 0) {
    free(timer);
    return;
  }
  timer_settime(*timer, 0, &once, NULL);
  // On success PAM owns the timer, and deletes an earlier one.
  if (pam_set_data(pamh, "whorl_interrupt", timer, forget) != PAM_SUCCESS) forget(pamh, timer, 0);
}

void whorl_interrupt_end_at_terminal(whorl_interrupt interrupt) {
  if (interrupt.descriptor < 0) return;
  close(interrupt.descriptor);
  pthread_sigmask(SIG_SETMASK, &interrupt.before, NULL);
}
