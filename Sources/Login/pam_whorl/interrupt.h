// Signals during the wait for a finger.
#ifndef WHORL_INTERRUPT_H
#define WHORL_INTERRUPT_H

#include <security/pam_modules.h>
#include <signal.h>

typedef struct {
  // A signalfd that becomes readable on one of the signals; -1 if it could not be made.
  int descriptor;
  sigset_t before, blocked;
  // At a terminal: the last signal that the program itself blocks and that this module took; 0 if there was none.
  int taken;
} whorl_interrupt;

// Blocks SIGINT in this thread until whorl_interrupt_end, so that it ends a wait in place of the program's own
// reaction. This works in a program that ignores SIGINT, too: a blocked signal stays pending even if it is ignored
// (signal(7)).
whorl_interrupt whorl_interrupt_begin(void);

// Blocks the signals after which a terminal without echo needs its settings back, or its silence again: those that end or
// stop the program, and SIGCONT. Leaves out those that the program ignores.
whorl_interrupt whorl_interrupt_at_terminal(void);

// Whether one of the signals is pending.
int whorl_interrupt_is_pending(const whorl_interrupt *interrupt);

// Has the program react to the pending signals as it would without this module: it may end or stop here. Takes those that
// the program blocks. Returns whether it goes on after one that was to end it.
int whorl_interrupt_deliver(whorl_interrupt *interrupt);

// Repeats a signal that was taken once the next module asks. sudo blocks Ctrl-C except while it reads a password: only
// there it ends.
void whorl_interrupt_repeat(pam_handle_t *pamh, int number);

// Discards a pending SIGINT and restores the thread's signal mask.
void whorl_interrupt_end(whorl_interrupt interrupt);

// Restores the thread's signal mask, so that the program reacts to what is pending.
void whorl_interrupt_end_at_terminal(whorl_interrupt interrupt);

#endif
