// Checks the language of the PAM module: which names it takes from files, and that a lookup leaves the locales of the program
// and of the thread as they were. Its arguments are a folder for files, and a sentence with its translation, which is in the
// catalogue of LANGUAGE. It ends with status 1 after the first check that fails.
#include "../../Sources/Login/pam_whorl/language.c"

#include <stdio.h>

static void require(int is_right, const char *what) {
  if (is_right) return;
  fprintf(stderr, "%s\n", what);
  exit(1);
}

static int takes(const char *path, const char *text, const char *expected) {
  FILE *file = fopen(path, "w");
  if (file == NULL || fputs(text, file) < 0 || fclose(file) != 0) exit(2);
  char name[name_size] = "";
  int is_taken = read_name(path, name);
  return expected == NULL ? !is_taken : is_taken && strcmp(name, expected) == 0;
}

int main(int count, char **words) {
  if (count != 4) return 2;
  const char *file = words[1], *sentence = words[2], *translation = words[3];
  require(takes(file, "LANG=de_DE.UTF-8\n", "de_DE.UTF-8"), "a plain name");
  require(takes(file, "# x\nLC_TIME=C\nLANG=\"pt_BR.utf8\"", "pt_BR.utf8"), "a quoted name at the end");
  require(takes(file, "LANG='ca_ES.UTF-8@valencia'\n", "ca_ES.UTF-8@valencia"), "a modifier");
  require(takes(file, "LANG=de_DE\n", NULL), "a locale of another codeset");
  require(takes(file, "LANG=de_DE.ISO-8859-1\n", NULL), "another codeset");
  require(takes(file, "LANG=../../x.UTF-8\n", NULL), "a path");
  require(takes(file, "LANG=\"de_DE.UTF-8\n", NULL), "a quotation mark without an end");
  require(takes(file, "LANG=de_DE.UTF-8; x\n", NULL), "more than a name");
  require(takes(file, "XLANG=de_DE.UTF-8\n", NULL), "another variable");
  require(takes(file, "LANG=\n", NULL), "nothing");
  require(takes(file, "LANG=aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa.UTF-8\n", NULL), "a long name");
  require(takes(file, "", NULL), "an empty file");

  const char *before = setlocale(LC_ALL, NULL);
  require(strcmp(before, "C") == 0, "the locale of the program");
  locale_t thread = uselocale((locale_t)0);
  require(strcmp(in_locale("C.UTF-8", sentence), translation) == 0, "a translation");
  require(uselocale((locale_t)0) == thread && strcmp(setlocale(LC_ALL, NULL), "C") == 0, "a locale that was put back");
  require(strcmp(dgettext(domain, sentence), sentence) == 0, "the program's own language");
  require(in_locale("xx_XX.UTF-8", sentence) == sentence, "a locale that is not there");
  require(strcmp(in_locale("C.UTF-8", "Something else"), "Something else") == 0, "a sentence without a translation");
  setenv("LANGUAGE", "../locale/zz", 1);
  require(in_locale("C.UTF-8", sentence) == sentence, "a language that is a path");
  puts("done");
  return 0;
}
