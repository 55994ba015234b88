#include "interrupt.h"

#include <sys/signalfd.h>
#include <unistd.h>

whorl_interrupt whorl_interrupt_begin(void) {
  whorl_interrupt interrupt;
  sigset_t signals;
  sigemptyset(&signals);
  sigaddset(&signals, SIGINT);
  pthread_sigmask(SIG_BLOCK, &signals, &interrupt.before);
  interrupt.descriptor = signalfd(-1, &signals, SFD_CLOEXEC | SFD_NONBLOCK);
  if (interrupt.descriptor < 0) pthread_sigmask(SIG_SETMASK, &interrupt.before, NULL);
  return interrupt;
}

void whorl_interrupt_end(whorl_interrupt interrupt) {
  if (interrupt.descriptor < 0) return;
  struct signalfd_siginfo signal;
  while (read(interrupt.descriptor, &signal, sizeof signal) > 0) continue;
  close(interrupt.descriptor);
  pthread_sigmask(SIG_SETMASK, &interrupt.before, NULL);
}
