#include "language.h"

#include <ctype.h>
#include <fcntl.h>
#include <libintl.h>
#include <locale.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <unistd.h>

#ifndef WHORL_LOCALES
#error "WHORL_LOCALES is the folder of the translations, which the build gives"
#endif

enum { file_size = 4096, name_size = 64 };
static const char domain[] = "whorl";

// Copies the name of a locale, with or without quotation marks, and returns whether it is one whose texts are UTF-8.
static int take_name(const char *value, char *name) {
  char quote = *value == '"' || *value == '\'' ? *value++ : '\0';
  size_t length = 0;
  while (isalnum((unsigned char)value[length]) || (value[length] != '\0' && strchr("_.@-", value[length]) != NULL))
    if (++length == name_size) return 0;
  char end = value[length];
  if (end != (quote == '\0' ? '\n' : quote) && end != '\0') return 0;
  memcpy(name, value, length);
  name[length] = '\0';
  const char *codeset = strchr(name, '.');
  return codeset != NULL && (strncasecmp(codeset, ".utf-8", 6) == 0 || strncasecmp(codeset, ".utf8", 5) == 0);
}

// Finds LANG in a file of root's.
static int read_name(const char *path, char *name) {
  char text[file_size];
  int file = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
  if (file < 0) return 0;
  ssize_t count = read(file, text, sizeof text - 1);
  close(file);
  if (count <= 0) return 0;
  text[count] = '\0';
  for (const char *line = text; line != NULL;) {
    if (strncmp(line, "LANG=", 5) == 0) return take_name(line + 5, name);
    line = strchr(line, '\n');
    if (line != NULL) line++;
  }
  return 0;
}

// The translation in a locale; the sentence itself where there is none.
static const char *in_locale(const char *name, const char *sentence) {
  // gettext prefers it to the locale, and makes a path of each of its words. A program with more rights than its caller
  // drops such words itself.
  const char *languages = getenv("LANGUAGE");
  if (languages != NULL && strchr(languages, '/') != NULL) return sentence;
  locale_t language = newlocale(LC_MESSAGES_MASK, name, (locale_t)0);
  if (language == (locale_t)0) return sentence;
  // The same for each call. With this codeset nothing is converted, for which the C library would load a module.
  bindtextdomain(domain, WHORL_LOCALES);
  bind_textdomain_codeset(domain, "UTF-8");
  locale_t before = uselocale(language);
  const char *translation = dgettext(domain, sentence);
  uselocale(before);
  freelocale(language);
  return translation;
}

const char *whorl_text(const char *sentence) {
  char name[name_size];
  if (!read_name("/etc/locale.conf", name) && !read_name("/etc/default/locale", name)) return sentence;
  return in_locale(name, sentence);
}
