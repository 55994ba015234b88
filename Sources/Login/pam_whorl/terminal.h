// The terminal while a password is typed without echo, read key by key beside something else that is waited for.
#ifndef WHORL_TERMINAL_H
#define WHORL_TERMINAL_H

#include <stddef.h>
#include <termios.h>

#include "deadline.h"

typedef struct {
  // Of /dev/tty, opened for this alone; -1 if it is closed.
  int descriptor;
  struct termios before;
  int is_quiet;
  // What has been typed in this line, in a page of its own, and its length in bytes.
  char *line;
  size_t length;
  // Whether the next key is taken as it is (Ctrl-V).
  int is_literal;
  // When the last key was typed; 0 if none was.
  uint64_t last_key;
} whorl_terminal;

// What reading the keys has come to.
typedef enum {
  // The line is not complete.
  whorl_line_open,
  // Enter was typed: `line` is what was typed before it.
  whorl_line_complete,
  // Ctrl-D in an empty line, a line that is too long, or the terminal has gone.
  whorl_line_ended,
} whorl_line;

// Opens the terminal of this process and turns its echo off. Returns 0 or a negative errno: -ENOTTY if this process has
// none or is in its background.
int whorl_terminal_open(whorl_terminal *terminal);

// Turns the echo off again, after the program was stopped.
int whorl_terminal_resume(whorl_terminal *terminal);

// Gives the terminal the settings back that it had.
void whorl_terminal_pause(whorl_terminal *terminal);

// The same; wipes what was typed, and closes the terminal.
void whorl_terminal_close(whorl_terminal *terminal);

// Reads the keys that were typed, up to Enter.
whorl_line whorl_terminal_read(whorl_terminal *terminal);

// Forgets what has been typed in this line.
void whorl_terminal_clear(whorl_terminal *terminal);

// Takes away what was typed and not read.
void whorl_terminal_flush(const whorl_terminal *terminal);

// Takes away what is typed, until Enter or a short pause, so that the rest of a password does not appear in the program that
// comes next: somebody who has begun to type notices only then that a finger has matched.
void whorl_terminal_drain(whorl_terminal *terminal);

// Writes the whole text. Returns 0 or a negative errno; it does not wait.
int whorl_terminal_write(const whorl_terminal *terminal, const char *text);

#endif
