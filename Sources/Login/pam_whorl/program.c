#include "program.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "language.h"

#ifndef SO_PEERPIDFD
// Of Linux 6.5, and of later kernel headers than those of some distributions.
#define SO_PEERPIDFD 77
#endif

enum { most_arguments = 65536 };

// MARK: sudo's arguments

static const char own_prompt_variable[] = "SUDO_PROMPT";
// sudo's and sudo-rs's options that change nothing about how it asks for a password, and those of them with a value. -n
// asks nobody, -S reads standard input, -A starts a program; -h and -a mean something else in some versions.
static const char plain[] = "BbEeHiKklNPsVv", valued[] = "CDgpRrTtUu";
static const char *const long_plain[] = {
  "bell", "background", "preserve-env", "edit", "set-home", "login", "remove-timestamp", "reset-timestamp", "list",
  "no-update", "preserve-groups", "shell", "version", "validate"};
static const char *const long_valued[] = {
  "close-from", "chdir", "group", "prompt", "chroot", "role", "command-timeout", "type", "other-user", "user"};

typedef struct {
  const char *prompt, *target;
} sudo_words;

static int is_one_of(const char *const *words, size_t count, const char *word, size_t length) {
  for (size_t index = 0; index < count; index++)
    if (strlen(words[index]) == length && strncmp(words[index], word, length) == 0) return 1;
  return 0;
}

static void note_value(sudo_words *words, char option, const char *value) {
  if (option == 'p') words->prompt = value;
  if (option == 'u') words->target = value;
}

// The argument after this one; NULL if there is none.
static const char *next(const char *word, const char *end) {
  word += strlen(word) + 1;
  return word < end ? word : NULL;
}

// Reads an option like --user=alice, or --user with its value in the next argument. Returns whether it is understood.
static int read_long(sudo_words *words, const char **word, const char *end) {
  const char *name = *word + 2, *equals = strchr(name, '=');
  size_t length = equals == NULL ? strlen(name) : (size_t)(equals - name);
  if (is_one_of(long_plain, sizeof long_plain / sizeof *long_plain, name, length))
    // Only --preserve-env may have a value.
    return equals == NULL || strncmp(name, "preserve-env", length) == 0;
  if (!is_one_of(long_valued, sizeof long_valued / sizeof *long_valued, name, length)) return 0;
  const char *value = equals == NULL ? (*word = next(*word, end)) : equals + 1;
  if (value == NULL) return 0;
  note_value(words, strncmp(name, "prompt", length) == 0 ? 'p' : strncmp(name, "user", length) == 0 ? 'u' : '-', value);
  return 1;
}

// Reads options like -Eu alice. Returns whether they are understood.
static int read_short(sudo_words *words, const char **word, const char *end) {
  for (const char *option = *word + 1; *option != '\0'; option++) {
    if (strchr(plain, *option) != NULL) continue;
    if (strchr(valued, *option) == NULL) return 0;
    const char *value = option[1] != '\0' ? option + 1 : (*word = next(*word, end));
    if (value == NULL) return 0;
    note_value(words, *option, value);
    return 1;
  }
  return 1;
}

// Reads sudo's options. Returns whether all of them are understood.
static int read_options(sudo_words *words, const char *word, const char *end) {
  while (word != NULL) {
    int is_option = word[0] == '-' && word[1] != '\0';
    if (is_option && strcmp(word, "--") == 0) return 1;
    // The command. NAME=value sets a variable for it, after which more options may follow.
    if (!is_option && (word[0] == '=' || strchr(word, '=') == NULL)) return 1;
    if (is_option && !(word[1] == '-' ? read_long(words, &word, end) : read_short(words, &word, end))) return 0;
    word = next(word, end);
  }
  return 1;
}

// MARK: The prompt

// Appends text. Returns 0 if it does not fit.
static int append(whorl_program *program, const char *text) {
  size_t used = strlen(program->prompt), length = strlen(text);
  if (used + length >= sizeof program->prompt) return 0;
  memcpy(program->prompt + used, text, length + 1);
  return 1;
}

static const char *item(pam_handle_t *pamh, int kind) {
  const void *text = NULL;
  return pam_get_item(pamh, kind, &text) == PAM_SUCCESS && text != NULL ? text : "";
}

// Writes sudo's prompt, with the % sequences of sudo(8). Returns 0 if it does not fit, or has one that is not known.
static int write_prompt(pam_handle_t *pamh, whorl_program *program, const sudo_words *words) {
  char host[256];
  if (gethostname(host, sizeof host) != 0) host[0] = '\0';
  host[sizeof host - 1] = '\0';
  for (const char *letter = words->prompt; *letter != '\0'; letter++) {
    char single[2] = {*letter, '\0'};
    const char *text = single;
    if (*letter == '%') {
      switch (*++letter) {
        case 'H': text = host; break;
        case 'h': host[strcspn(host, ".")] = '\0'; text = host; break;
        case 'p': text = item(pamh, PAM_USER); break;
        case 'u': text = item(pamh, PAM_RUSER); break;
        case 'U': text = words->target == NULL ? "root" : words->target; break;
        case '%': break;
        default: return 0;
      }
    } else if (*letter < ' ' && *letter >= '\0' && *letter != '\n' && *letter != '\t') {
      return 0;
    }
    if (!append(program, text)) return 0;
  }
  return 1;
}

// MARK: polkit's agent

// The process that polkit's helper works for, if systemd has started the helper with that process's socket as its input:
// a helper that a person's program has started keeps that person's user id, and its socket proves nothing. The kernel names
// the process by a descriptor, since its number may be another process's by now. -1 if there is none.
static int agent_at_input(void) {
  int agent = -1;
  socklen_t size = sizeof agent;
  if (getuid() != 0 || getsockopt(STDIN_FILENO, SOL_SOCKET, SO_PEERPIDFD, &agent, &size) != 0) return -1;
  return agent;
}

// Reads a small file of the kernel's. Returns whether there is anything in it.
static int read_small(const char *path, char *text, size_t size) {
  int file = open(path, O_RDONLY | O_CLOEXEC);
  if (file < 0) return 0;
  ssize_t count = read(file, text, size - 1);
  close(file);
  text[count < 0 ? 0 : count] = '\0';
  return count > 0;
}

// The agents of XFCE and MATE, as the kernel cuts their names. They read nothing from the helper while their dialog asks.
static const char *const one_at_a_time[] = {"polkit-gnome-au", "polkit-mate-aut"};
// KDE's.
static const char *const without_prompt[] = {"polkit-kde-auth"};

// How an agent is asked. One that reads a terminal, as pkttyagent does, or that is in the first list above would notice a match
// only after somebody has pressed Enter: it is asked one after the other, and so is one that is not known.
static whorl_program_kind kind_for(int agent) {
  char path[64], text[1024];
  int process = getppid(), terminal = 0;
  if (agent >= 0) {
    snprintf(path, sizeof path, "/proc/self/fdinfo/%d", agent);
    const char *number = read_small(path, text, sizeof text) ? strstr(text, "\nPid:") : NULL;
    if (number == NULL || sscanf(number, "\nPid: %d", &process) != 1) return whorl_program_other;
  }
  snprintf(path, sizeof path, "/proc/%d/stat", process);
  // The name of the program, in brackets, may have any letters.
  const char *name = read_small(path, text, sizeof text) ? strchr(text, '(') : NULL;
  const char *rest = name == NULL ? NULL : strrchr(name, ')');
  if (rest == NULL || sscanf(rest, ") %*c %*d %*d %*d %d", &terminal) != 1 || terminal != 0) return whorl_program_other;
  size_t length = (size_t)(rest - ++name);
  if (is_one_of(one_at_a_time, sizeof one_at_a_time / sizeof *one_at_a_time, name, length)) return whorl_program_other;
  return is_one_of(without_prompt, sizeof without_prompt / sizeof *without_prompt, name, length)
           ? whorl_program_of_polkit_without_prompt
           : whorl_program_of_polkit;
}

// MARK: The program

// The name of the file that this process runs; empty if it is not known.
static void read_name(char *name, size_t size) {
  char file[4096];
  ssize_t length = readlink("/proc/self/exe", file, sizeof file - 1);
  file[length < 0 ? 0 : length] = '\0';
  const char *slash = strrchr(file, '/');
  snprintf(name, size, "%s", slash == NULL ? "" : slash + 1);
}

// The arguments of this process, each with its NUL; NULL if they are longer than expected. The caller frees them.
static char *read_arguments(size_t *length) {
  int file = open("/proc/self/cmdline", O_RDONLY | O_CLOEXEC);
  if (file < 0) return NULL;
  char *arguments = calloc(1, most_arguments);
  *length = 0;
  ssize_t count = 0;
  while (arguments != NULL && *length < most_arguments - 1 &&
         (count = read(file, arguments + *length, most_arguments - 1 - *length)) > 0)
    *length += (size_t)count;
  close(file);
  if (arguments != NULL && count == 0 && *length > 0) return arguments;
  free(arguments);
  return NULL;
}

static whorl_program_kind read_sudo(pam_handle_t *pamh, whorl_program *program) {
  size_t length = 0;
  char *arguments = read_arguments(&length);
  if (arguments == NULL) return whorl_program_other;
  // As in sudo, the option comes before the variable.
  sudo_words words = {0};
  int is_understood = read_options(&words, next(arguments, arguments + length), arguments + length);
  if (words.prompt == NULL) words.prompt = getenv(own_prompt_variable);
  program->is_own_prompt = words.prompt != NULL && words.prompt[0] != '\0';
  if (!program->is_own_prompt) words.prompt = whorl_text("[sudo] password for %p: ");
  if (is_understood) is_understood = write_prompt(pamh, program, &words);
  free(arguments);
  return is_understood ? whorl_program_at_terminal : whorl_program_other;
}

whorl_program whorl_program_read(pam_handle_t *pamh) {
  whorl_program program = {.prompt = "", .agent = -1};
  char name[64];
  read_name(name, sizeof name);
  if (strcmp(name, "sudo") == 0 || strcmp(name, "sudo-rs") == 0) {
    program.kind = read_sudo(pamh, &program);
    return program;
  }
  snprintf(program.prompt, sizeof program.prompt, "%s", whorl_text("Password: "));
  // su and login read standard input, whatever it is; doas does not.
  int reads_input = strcmp(name, "su") == 0 || strcmp(name, "login") == 0;
  if ((reads_input && isatty(STDIN_FILENO)) || strcmp(name, "doas") == 0)
    program.kind = whorl_program_at_terminal;
  else if (strcmp(name, "polkit-agent-helper-1") == 0) {
    program.agent = agent_at_input();
    program.kind = kind_for(program.agent);
  }
  return program;
}
