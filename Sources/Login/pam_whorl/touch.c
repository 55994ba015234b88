#include "touch.h"

#include <errno.h>

#include "connection.h"

enum {
  // The longest wait for the reader to become ready (the service itself gives up after ten seconds), and the time after
  // which the person is told of the wait.
  reader_milliseconds = 15000,
  silent_milliseconds = 1500,
  // For each touch. The service itself ends the wait after ten seconds.
  touch_milliseconds = 10500,
  // For all touches together.
  whole_milliseconds = 30000,
};
// The limit for unreadable touches: the service ends a request after far fewer touches that do not match.
enum { most_prompts = 20 };

// A login by finger, from the call to the result.
typedef struct {
  const whorl_touching *touching;
  sd_bus *bus;
  // For the first answer, and for all of it.
  whorl_deadline answer, end;
  int is_told;
} asking;

static int wants_touch(whorl_outcome outcome) {
  switch (outcome) {
    case whorl_touch:
    case whorl_retry:
    case whorl_other_finger:
    case whorl_swipe:
    case whorl_retry_swipe:
    case whorl_other_finger_swipe: return 1;
    default: return 0;
  }
}

// Says once what is waited for.
static void tell(asking *asking) {
  if (!asking->is_told && asking->touching->tell != NULL) asking->touching->tell(asking->touching->data);
  asking->is_told = 1;
}

// Waits for the reader to become ready. The person is told if that takes long, as where its program has to be started.
static int wait_for_reader(asking *asking, whorl_answer *answer, whorl_deadline deadline, whorl_outcome *outcome) {
  whorl_deadline silent = whorl_deadline_in(silent_milliseconds);
  silent.watch = deadline.watch;
  int result = whorl_service_wait(asking->bus, answer, silent, outcome);
  if (result != -ETIMEDOUT) return result;
  tell(asking);
  return whorl_service_wait(asking->bus, answer, deadline, outcome);
}

// Asks for a finger, and waits for the first answer.
static int begin(asking *asking, const whorl_login *login, whorl_outcome *outcome) {
  whorl_answer answer;
  int result = whorl_service_verify(asking->bus, login, &answer);
  if (result >= 0) result = whorl_service_wait(asking->bus, &answer, asking->answer, outcome);
  if (result == -ETIMEDOUT && whorl_service_has_just_started(&asking->answer)) {
    tell(asking);
    result = whorl_service_wait(asking->bus, &answer, asking->answer, outcome);
  }
  whorl_service_forget(&answer);
  return result;
}

// Asks for what follows the outcome, and waits for that.
static int next(asking *asking, whorl_outcome *outcome) {
  int is_trying = *outcome == whorl_trying;
  whorl_deadline deadline = whorl_deadline_in(is_trying ? reader_milliseconds : touch_milliseconds);
  if (deadline.microseconds > asking->end.microseconds) deadline = asking->end;
  deadline.watch = asking->end.watch;
  whorl_answer answer;
  int result = whorl_service_next(asking->bus, &answer);
  if (result >= 0)
    result = is_trying ? wait_for_reader(asking, &answer, deadline, outcome)
                       : whorl_service_wait(asking->bus, &answer, deadline, outcome);
  whorl_service_forget(&answer);
  return result;
}

// Shows the prompts that the service asks for until it returns a final result.
static int ask(asking *asking, const whorl_login *login, whorl_outcome *outcome) {
  asking->end = whorl_deadline_in(whole_milliseconds);
  asking->end.watch = asking->touching->watch;
  unsigned prompts = 0;
  int result = begin(asking, login, outcome);
  while (result >= 0 && (*outcome == whorl_trying || wants_touch(*outcome))) {
    // Without a prompt nobody would touch the reader, so it must not be armed.
    if (*outcome != whorl_trying) {
      if (prompts++ == most_prompts) return -ENOTTY;
      result = asking->touching->show(asking->touching->data, *outcome);
      if (result < 0) return result;
    }
    result = next(asking, outcome);
    if (result >= 0 && *outcome == whorl_trying) return -EBADMSG;
  }
  // A match without a prompt cannot be true.
  return result >= 0 && *outcome == whorl_verified && prompts == 0 ? -EBADMSG : result;
}

int whorl_touch_ask(const whorl_touching *touching, const whorl_login *login, whorl_outcome *outcome) {
  asking asking = {.touching = touching};
  int result = whorl_service_connect(login->user, touching->watch, &asking.answer, &asking.bus);
  if (result == -EINPROGRESS) {
    tell(&asking);
    result = whorl_service_start(&asking.answer, asking.bus);
  }
  if (result < 0) return result;
  result = ask(&asking, login, outcome);
  // Closing the connection has the service disarm the reader.
  whorl_close(asking.bus);
  return result;
}
