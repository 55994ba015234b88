#include "terminal.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "password.h"

enum {
  // How long after a match nobody may have pressed a key, where nothing was typed before and where something was, and the
  // longest wait for that.
  settle_milliseconds = 150,
  pause_milliseconds = 400,
  drain_milliseconds = 2000,
};

// Turns off the echo, and the line that the kernel keeps: with it nobody could know that a part of a password has been
// typed. Ctrl-C and its kind stay signals.
static int quiet(whorl_terminal *terminal) {
  struct termios changed = terminal->before;
  changed.c_lflag &= ~(tcflag_t)(ECHO | ECHOE | ECHOK | ECHONL | ICANON | IEXTEN);
  changed.c_cc[VMIN] = 1;
  changed.c_cc[VTIME] = 0;
  // Not TCSAFLUSH: what was typed before the prompt counts, as it does in sudo. Not TCSADRAIN: a terminal whose output is
  // stopped would block.
  if (tcsetattr(terminal->descriptor, TCSANOW, &changed) != 0) return -errno;
  terminal->is_quiet = 1;
  return 0;
}

int whorl_terminal_open(whorl_terminal *terminal) {
  *terminal = (whorl_terminal){.descriptor = -1};
  int descriptor = open("/dev/tty", O_RDWR | O_NOCTTY | O_CLOEXEC | O_NONBLOCK);
  if (descriptor < 0) return -ENOTTY;
  terminal->descriptor = descriptor;
  int result = tcgetpgrp(descriptor) == getpgrp() ? 0 : -ENOTTY;
  if (result >= 0 && tcgetattr(descriptor, &terminal->before) != 0) result = -errno;
  if (result >= 0 && (terminal->line = whorl_page_make()) == NULL) result = -ENOMEM;
  if (result >= 0) result = quiet(terminal);
  if (result < 0) whorl_terminal_close(terminal);
  return result;
}

int whorl_terminal_resume(whorl_terminal *terminal) {
  // The shell may have changed the settings meanwhile.
  if (tcgetattr(terminal->descriptor, &terminal->before) != 0) return -errno;
  return quiet(terminal);
}

void whorl_terminal_pause(whorl_terminal *terminal) {
  if (terminal->is_quiet) tcsetattr(terminal->descriptor, TCSANOW, &terminal->before);
  terminal->is_quiet = 0;
}

void whorl_terminal_close(whorl_terminal *terminal) {
  if (terminal->descriptor < 0) return;
  whorl_terminal_pause(terminal);
  close(terminal->descriptor);
  terminal->descriptor = -1;
  if (terminal->line != NULL) whorl_page_wipe(terminal->line);
  terminal->line = NULL;
}

// MARK: The line

void whorl_terminal_clear(whorl_terminal *terminal) {
  explicit_bzero(terminal->line, terminal->length);
  terminal->length = 0;
  terminal->is_literal = 0;
}

// Takes the last character away: with IUTF8 all bytes of it, as the kernel's own line does.
static void erase(whorl_terminal *terminal) {
  int is_rest = 1;
  while (is_rest && terminal->length > 0) {
    char *last = terminal->line + --terminal->length;
    is_rest = (terminal->before.c_iflag & IUTF8) != 0 && ((unsigned char)*last & 0xc0) == 0x80;
    *last = '\0';
  }
}

static void erase_word(whorl_terminal *terminal) {
  while (terminal->length > 0 && terminal->line[terminal->length - 1] == ' ') erase(terminal);
  while (terminal->length > 0 && terminal->line[terminal->length - 1] != ' ') erase(terminal);
}

// Takes one key, by the terminal's own settings.
static whorl_line take(whorl_terminal *terminal, char key) {
  const cc_t *keys = terminal->before.c_cc;
  cc_t byte = (cc_t)key;
  int has_extras = (terminal->before.c_lflag & IEXTEN) != 0;
  // _POSIX_VDISABLE (0) stands for a function that no key has; a password has no NUL either.
  if (byte == _POSIX_VDISABLE) return whorl_line_open;
  if (!terminal->is_literal) {
    if (byte == '\n' || byte == keys[VEOL]) return whorl_line_complete;
    if (byte == keys[VEOF]) return terminal->length > 0 ? whorl_line_complete : whorl_line_ended;
    if (byte == keys[VERASE]) return erase(terminal), whorl_line_open;
    if (byte == keys[VKILL]) return whorl_terminal_clear(terminal), whorl_line_open;
    if (has_extras && byte == keys[VWERASE]) return erase_word(terminal), whorl_line_open;
    if (has_extras && byte == keys[VLNEXT]) return terminal->is_literal = 1, whorl_line_open;
  }
  terminal->is_literal = 0;
  if (terminal->length + 1 >= whorl_page_size) return whorl_line_ended;
  terminal->line[terminal->length++] = key;
  terminal->line[terminal->length] = '\0';
  return whorl_line_open;
}

whorl_line whorl_terminal_read(whorl_terminal *terminal) {
  for (;;) {
    // One at a time, so that no more than the line is read.
    char key = '\0';
    ssize_t count = read(terminal->descriptor, &key, 1);
    if (count < 0 && errno == EINTR) continue;
    if (count < 0 && errno == EAGAIN) return whorl_line_open;
    if (count != 1) return whorl_line_ended;
    terminal->last_key = whorl_now();
    whorl_line line = take(terminal, key);
    explicit_bzero(&key, sizeof key);
    if (line != whorl_line_open) return line;
  }
}

void whorl_terminal_flush(const whorl_terminal *terminal) { tcflush(terminal->descriptor, TCIFLUSH); }

void whorl_terminal_drain(whorl_terminal *terminal) {
  whorl_deadline end = whorl_deadline_in(drain_milliseconds);
  whorl_line line = whorl_terminal_read(terminal);
  while (line == whorl_line_open) {
    struct pollfd polled = {.fd = terminal->descriptor, .events = POLLIN};
    int left = whorl_milliseconds_left(end), pause = terminal->last_key == 0 ? settle_milliseconds : pause_milliseconds;
    if (left == 0 || poll(&polled, 1, left < pause ? left : pause) <= 0) break;
    line = whorl_terminal_read(terminal);
  }
  whorl_terminal_flush(terminal);
  whorl_terminal_clear(terminal);
}

int whorl_terminal_write(const whorl_terminal *terminal, const char *text) {
  size_t length = strlen(text);
  while (length > 0) {
    ssize_t count = write(terminal->descriptor, text, length);
    if (count < 0 && errno == EINTR) continue;
    if (count <= 0) return count < 0 ? -errno : -EIO;
    text += count;
    length -= (size_t)count;
  }
  return 0;
}
