// Ctrl-C during the wait for a finger.
#ifndef WHORL_INTERRUPT_H
#define WHORL_INTERRUPT_H

#include <signal.h>

typedef struct {
  // A signalfd that becomes readable on SIGINT; -1 if it could not be made.
  int descriptor;
  sigset_t before;
} whorl_interrupt;

// Blocks SIGINT in this thread until whorl_interrupt_end, so that it ends a wait in place of the program's own
// reaction. This works in a program that ignores SIGINT, too: a blocked signal stays pending even if it is ignored
// (signal(7)).
whorl_interrupt whorl_interrupt_begin(void);

// Discards a pending SIGINT and restores the thread's signal mask.
void whorl_interrupt_end(whorl_interrupt interrupt);

#endif
