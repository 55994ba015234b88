// The language of the system, for what a person reads.
#pragma once

// The translation of a sentence into the language of the system (LANG in /etc/locale.conf or /etc/default/locale); the
// sentence itself where there is none. The result stays valid. Safe in every thread, and changes neither the locale of the
// program nor, after it has returned, that of the thread: many login programs never call setlocale.
const char *whorl_text(const char *sentence);
