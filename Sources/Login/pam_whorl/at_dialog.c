#include "at_dialog.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <security/pam_ext.h>
#include <signal.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include "language.h"
#include "password.h"
#include "touch.h"

enum {
  // How long the dialog waits to know whether it may name the reader. A person does not notice it.
  reader_milliseconds = 300,
  stack_size = 262144,
};

// What both threads see. The main thread writes only before it starts the other one and after that has ended; between,
// it writes `is_prompted` and then `go`.
typedef struct {
  const whorl_login *login;
  const struct pam_conv *conversation;
  // Whether the agent shows the prompt.
  int shows_prompt;
  // The helper's descriptor 0, and the end of the pipe that stands in its place.
  int input, pipe;
  // Events: the reader is ready or will not be, the prompt is about to be shown, nothing is waited for any more.
  int ready, go, stop;
  // Whether a touch is wanted, and by which kind of reader; whether the prompt says so, and may be shown.
  int wants_touch, wants_swipe, names_reader, has_gone;
  // A page for the line that is passed on.
  char *line;
  int has_line;
  int result;
  whorl_outcome outcome;
} dialog;

static void signal_event(int event) {
  const uint64_t one = 1;
  (void)!write(event, &one, sizeof one);
}

// Whether the event comes before the deadline and before `stop`.
static int wait_for(int event, int stop, int milliseconds) {
  whorl_deadline deadline = whorl_deadline_in(milliseconds < 0 ? 0 : (unsigned)milliseconds);
  for (;;) {
    struct pollfd polled[] = {{.fd = event, .events = POLLIN}, {.fd = stop, .events = POLLIN}};
    int left = milliseconds < 0 ? -1 : whorl_milliseconds_left(deadline);
    int count = poll(polled, 2, left);
    if (count < 0 && errno == EINTR) continue;
    return count > 0 && polled[0].revents != 0 && polled[1].revents == 0;
  }
}

// MARK: The thread

// Passes on what the agent has sent. Returns whether nothing more is to come: a line was complete, or the agent has gone.
static int pass_on(dialog *dialog) {
  ssize_t count = read(dialog->input, dialog->line, whorl_page_size);
  if (count < 0 && (errno == EINTR || errno == EAGAIN)) return 0;
  // The conversation reads the end of the input.
  if (count <= 0) {
    close(dialog->pipe);
    dialog->pipe = -1;
    return dialog->has_line = 1;
  }
  int has_line = memchr(dialog->line, '\n', (size_t)count) != NULL;
  if (write(dialog->pipe, dialog->line, (size_t)count) != count) has_line = 1;
  explicit_bzero(dialog->line, (size_t)count);
  return dialog->has_line = has_line;
}

static int ends(void *data) {
  dialog *dialog = data;
  struct pollfd polled[] = {{.fd = dialog->stop, .events = POLLIN}, {.fd = dialog->input, .events = POLLIN}};
  if (poll(polled, 2, 0) <= 0) return 0;
  return polled[0].revents != 0 || (polled[1].revents != 0 && pass_on(dialog));
}

static const char *sentence(whorl_outcome outcome) {
  switch (outcome) {
    case whorl_touch: return whorl_text("Or touch the reader.");
    case whorl_swipe: return whorl_text("Or swipe the reader.");
    case whorl_retry: return whorl_text("The touch could not be read, touch again or type.");
    case whorl_retry_swipe: return whorl_text("The swipe could not be read, swipe again or type.");
    case whorl_other_finger: return whorl_text("No match, touch again or type.");
    case whorl_other_finger_swipe: return whorl_text("No match, swipe again or type.");
    case whorl_locked_out: return whorl_text("Fingers are locked after too many wrong touches. Type your password.");
    case whorl_no_match: return whorl_text("The fingerprint does not match.");
    default: return NULL;
  }
}

// Writes a sentence for the agent. The helper's conversation only prints such a message, so it may be called while
// another call of it waits for a line.
static int say(dialog *dialog, const char *text) {
  const struct pam_message message = {.msg_style = PAM_TEXT_INFO, .msg = text}, *messages = &message;
  struct pam_response *responses = NULL;
  int result = dialog->conversation->conv(1, &messages, &responses, dialog->conversation->appdata_ptr);
  if (responses != NULL) free(responses->resp);
  free(responses);
  return result == PAM_SUCCESS ? 0 : -ENOTTY;
}

static int show(void *data, whorl_outcome outcome) {
  dialog *dialog = data;
  if (!dialog->has_gone) {
    dialog->wants_touch = 1;
    dialog->wants_swipe = outcome == whorl_swipe;
    signal_event(dialog->ready);
    if (!wait_for(dialog->go, dialog->stop, -1)) return -EINTR;
    dialog->has_gone = 1;
    if (dialog->names_reader) return 0;
  }
  return say(dialog, sentence(outcome));
}

static void *run(void *data) {
  dialog *dialog = data;
  const whorl_watch watch = {.descriptors = {dialog->input, dialog->stop}, .ends = ends, .data = dialog};
  const whorl_touching touching = {.show = show, .data = dialog, .watch = &watch};
  dialog->outcome = whorl_no_finger;
  dialog->result = whorl_touch_ask(&touching, dialog->login, &dialog->outcome);
  if (dialog->result >= 0 && dialog->outcome == whorl_verified) {
    (void)!write(dialog->pipe, "\n", 1);
    return NULL;
  }
  if (!dialog->has_gone) {
    // The prompt does not name the reader, if this comes in time.
    signal_event(dialog->ready);
    if (!wait_for(dialog->go, dialog->stop, -1)) return NULL;
  }
  if (dialog->result >= 0 && sentence(dialog->outcome) != NULL) say(dialog, sentence(dialog->outcome));
  while (!dialog->has_line && wait_for(dialog->input, dialog->stop, -1)) pass_on(dialog);
  return NULL;
}

// MARK: The main thread

static int start(dialog *dialog, pthread_t *thread) {
  pthread_attr_t attributes;
  if (pthread_attr_init(&attributes) != 0) return -ENOTTY;
  // The program's signals stay its own.
  sigset_t all, before;
  sigfillset(&all);
  int result = pthread_attr_setstacksize(&attributes, stack_size);
  pthread_sigmask(SIG_BLOCK, &all, &before);
  if (result == 0) result = pthread_create(thread, &attributes, run, dialog);
  pthread_sigmask(SIG_SETMASK, &before, NULL);
  pthread_attr_destroy(&attributes);
  return result == 0 ? 0 : -ENOTTY;
}

// Shows the prompt, and waits until the agent has answered or a finger has matched. Returns what was typed; the caller
// frees it.
static char *converse(pam_handle_t *pamh, dialog *dialog) {
  dialog->names_reader =
    dialog->shows_prompt && wait_for(dialog->ready, dialog->stop, reader_milliseconds) && dialog->wants_touch;
  char *typed = NULL;
  const char *prompt = whorl_text("Password: ");
  if (dialog->names_reader)
    prompt = dialog->wants_swipe ? whorl_text("Password, or swipe the reader: ")
                                 : whorl_text("Password, or touch the reader: ");
  signal_event(dialog->go);
  if (pam_prompt(pamh, PAM_PROMPT_ECHO_OFF, &typed, "%s", prompt) != PAM_SUCCESS) return NULL;
  return typed;
}

// Puts a pipe in the place of descriptor 0, and asks.
static int ask(pam_handle_t *pamh, dialog *dialog) {
  int ends[2];
  if (pipe2(ends, O_CLOEXEC) != 0) return -ENOTTY;
  // A flood must not block the thread.
  (void)fcntl(ends[1], F_SETFL, O_NONBLOCK);
  dialog->pipe = ends[1];
  pthread_t thread;
  int result = dup2(ends[0], STDIN_FILENO) < 0 ? -ENOTTY : start(dialog, &thread);
  close(ends[0]);
  if (result < 0) {
    dup2(dialog->input, STDIN_FILENO);
    close(ends[1]);
    return result;
  }
  char *typed = converse(pamh, dialog);
  signal_event(dialog->stop);
  pthread_join(thread, NULL);
  dup2(dialog->input, STDIN_FILENO);
  if (dialog->pipe >= 0) close(dialog->pipe);
  int is_verified = dialog->result >= 0 && dialog->outcome == whorl_verified;
  if (typed != NULL && !is_verified) pam_set_item(pamh, PAM_AUTHTOK, typed);
  if (typed != NULL) explicit_bzero(typed, strlen(typed));
  free(typed);
  return is_verified || dialog->result < 0 ? dialog->result : -EINTR;
}

int whorl_at_dialog(pam_handle_t *pamh, const whorl_login *login, int shows_prompt, whorl_outcome *outcome) {
  const void *conversation = NULL;
  if (pam_get_item(pamh, PAM_CONV, &conversation) != PAM_SUCCESS || conversation == NULL) return -ENOTTY;
  dialog dialog = {
    .login = login, .conversation = conversation, .shows_prompt = shows_prompt, .outcome = whorl_no_finger,
    .input = fcntl(STDIN_FILENO, F_DUPFD_CLOEXEC, 3), .pipe = -1, .ready = eventfd(0, EFD_CLOEXEC),
    .go = eventfd(0, EFD_CLOEXEC), .stop = eventfd(0, EFD_CLOEXEC), .line = whorl_page_make()};
  int result = -ENOTTY;
  if (dialog.input >= 0 && dialog.ready >= 0 && dialog.go >= 0 && dialog.stop >= 0 && dialog.line != NULL)
    result = ask(pamh, &dialog);
  if (dialog.line != NULL) whorl_page_wipe(dialog.line);
  const int opened[] = {dialog.input, dialog.ready, dialog.go, dialog.stop};
  for (size_t index = 0; index < sizeof opened / sizeof *opened; index++)
    if (opened[index] >= 0) close(opened[index]);
  *outcome = dialog.outcome;
  return result;
}
