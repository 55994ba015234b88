#include "at_terminal.h"

#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>

#include "interrupt.h"
#include "language.h"
#include "terminal.h"
#include "touch.h"

// How long somebody who has begun to type may pause once no finger is waited for.
enum { idle_microseconds = 30000000 };

typedef struct {
  const whorl_program *program;
  whorl_terminal terminal;
  whorl_interrupt interrupt;
  whorl_line line;
  int has_signal;
  // The width of what this module has written in the terminal's last line.
  size_t shown;
} prompting;

// MARK: What is shown

// The columns of what begins with this byte in UTF-8: none for what continues a character, two for characters from U+3000
// on, such as those of Chinese and Japanese.
static size_t columns_of(unsigned char byte) { return (byte & 0xc0) == 0x80 ? 0 : byte >= 0xe3 ? 2 : 1; }

// The columns after the last line break, with UTF-8.
static size_t columns(const char *text) {
  size_t count = 0;
  for (; *text != '\0'; text++) count = *text == '\n' ? 0 : count + columns_of((unsigned char)*text);
  return count;
}

// Writes text in the place of the last line, and as much of nothing as hides what was longer.
static int replace(prompting *prompting, const char *text) {
  // Longer than a prompt and a sentence.
  char line[1536];
  size_t width = columns(text), rest = prompting->shown > width ? prompting->shown - width : 0;
  int length = snprintf(line, sizeof line, "\r%s%*s", text, (int)rest, "");
  if (length < 0 || (size_t)length + rest >= sizeof line) return -ENAMETOOLONG;
  memset(line + length, '\b', rest);
  line[(size_t)length + rest] = '\0';
  prompting->shown = width;
  return whorl_terminal_write(&prompting->terminal, line);
}

// The prompt of an outcome that wants a touch, in full.
static const char *prompt(whorl_outcome outcome) {
  switch (outcome) {
    case whorl_touch: return whorl_text("Password, or touch the reader: ");
    case whorl_swipe: return whorl_text("Password, or swipe the reader: ");
    case whorl_retry: return whorl_text("The touch could not be read, touch again or type. ");
    case whorl_retry_swipe: return whorl_text("The swipe could not be read, swipe again or type. ");
    case whorl_other_finger: return whorl_text("No match, touch again or type. ");
    case whorl_other_finger_swipe: return whorl_text("No match, swipe again or type. ");
    default: return "";
  }
}

// The sentence above a prompt of the person's own.
static const char *sentence(whorl_outcome outcome) {
  switch (outcome) {
    case whorl_touch: return whorl_text("Touch the reader, or type.");
    case whorl_swipe: return whorl_text("Swipe the reader, or type.");
    default: return prompt(outcome);
  }
}

static int show(void *data, whorl_outcome outcome) {
  prompting *prompting = data;
  int is_first = outcome == whorl_touch || outcome == whorl_swipe;
  if (!is_first) {
    int result = whorl_terminal_write(&prompting->terminal, "\n");
    if (result < 0) return result;
    prompting->shown = 0;
  }
  if (!prompting->program->is_own_prompt) return replace(prompting, prompt(outcome));
  int result = replace(prompting, sentence(outcome));
  if (result >= 0) result = whorl_terminal_write(&prompting->terminal, "\n");
  if (result < 0) return result;
  prompting->shown = 0;
  return replace(prompting, prompting->program->prompt);
}

// Says why no finger is asked for any more.
static void tell(prompting *prompting, whorl_outcome outcome) {
  if (outcome == whorl_locked_out) {
    replace(prompting, whorl_text("Fingers are locked after too many wrong touches. Type your password."));
    whorl_terminal_write(&prompting->terminal, "\n");
    prompting->shown = 0;
  }
  if (outcome == whorl_no_match) {
    whorl_terminal_write(&prompting->terminal, "\n");
    prompting->shown = 0;
    replace(prompting, whorl_text("The fingerprint does not match."));
    whorl_terminal_write(&prompting->terminal, "\n");
    prompting->shown = 0;
  }
}

// MARK: What is waited for

// Reads the keys; whether a line is complete, or a signal has come.
static int ends(void *data) {
  prompting *prompting = data;
  prompting->has_signal = whorl_interrupt_is_pending(&prompting->interrupt);
  if (prompting->has_signal) return 1;
  prompting->line = whorl_terminal_read(&prompting->terminal);
  return prompting->line != whorl_line_open;
}

// Waits for the rest of a line that somebody has begun. Returns -EINTR if `ends` has; 0 after a long pause.
static int wait_for_line(prompting *prompting) {
  for (;;) {
    whorl_deadline deadline = {.microseconds = prompting->terminal.last_key + idle_microseconds};
    struct pollfd polled[] = {
      {.fd = prompting->interrupt.descriptor, .events = POLLIN},
      {.fd = prompting->terminal.descriptor, .events = POLLIN}};
    int left = whorl_milliseconds_left(deadline);
    if (left == 0) return 0;
    if (poll(polled, 2, left) > 0 && ends(prompting)) return -EINTR;
  }
}

// Asks once, until something has come of it.
static int ask(prompting *prompting, const whorl_login *login, whorl_outcome *outcome) {
  const whorl_watch watch = {
    .descriptors = {prompting->interrupt.descriptor, prompting->terminal.descriptor}, .ends = ends, .data = prompting};
  const whorl_touching touching = {.show = show, .data = prompting, .watch = &watch};
  *outcome = whorl_no_finger;
  prompting->has_signal = 0;
  prompting->line = whorl_line_open;
  // At once, since the service may be slow to answer, or not answer.
  int result = replace(prompting, prompting->program->prompt);
  if (result < 0) return -ENOTTY;
  result = whorl_touch_ask(&touching, login, outcome);
  if (result == -EINTR) return result;
  if (result >= 0 && *outcome == whorl_verified) {
    // A finger that was seen while the program was stopped was not meant for it.
    prompting->has_signal = whorl_interrupt_is_pending(&prompting->interrupt);
    return prompting->has_signal ? -EINTR : 0;
  }
  tell(prompting, result >= 0 ? *outcome : whorl_no_finger);
  if (prompting->terminal.length == 0) return result;
  if (replace(prompting, prompting->program->prompt) < 0) return result;
  int waited = wait_for_line(prompting);
  return waited < 0 ? waited : result;
}

// Has the program react to a signal, with its terminal as it was. Returns whether to ask again.
static int react(prompting *prompting) {
  whorl_terminal_clear(&prompting->terminal);
  whorl_terminal_write(&prompting->terminal, "\n");
  whorl_terminal_pause(&prompting->terminal);
  if (whorl_interrupt_deliver(&prompting->interrupt)) return 0;
  prompting->shown = 0;
  return whorl_terminal_resume(&prompting->terminal) >= 0;
}

int whorl_at_terminal(
  pam_handle_t *pamh, const whorl_program *program, const whorl_login *login, whorl_outcome *outcome
) {
  prompting prompting = {.program = program, .interrupt = whorl_interrupt_at_terminal()};
  if (prompting.interrupt.descriptor < 0 || whorl_terminal_open(&prompting.terminal) < 0) {
    whorl_interrupt_end_at_terminal(prompting.interrupt);
    return -ENOTTY;
  }
  int result;
  do {
    result = ask(&prompting, login, outcome);
  } while (result == -EINTR && prompting.has_signal && react(&prompting));
  if (result >= 0 && *outcome == whorl_verified) {
    whorl_terminal_drain(&prompting.terminal);
    whorl_terminal_write(&prompting.terminal, "\n");
  } else if (result == -EINTR) {
    *outcome = whorl_no_finger;
    if (!prompting.has_signal) whorl_terminal_write(&prompting.terminal, "\n");
    if (prompting.line == whorl_line_complete) {
      pam_set_item(pamh, PAM_AUTHTOK, prompting.terminal.line);
      // The rest of a paste, as sudo does: it may be a secret.
      whorl_terminal_flush(&prompting.terminal);
    }
  } else {
    // The next module asks in this place.
    replace(&prompting, "");
  }
  whorl_terminal_close(&prompting.terminal);
  whorl_interrupt_end_at_terminal(prompting.interrupt);
  if (prompting.interrupt.taken != 0) whorl_interrupt_repeat(pamh, prompting.interrupt.taken);
  return result;
}
