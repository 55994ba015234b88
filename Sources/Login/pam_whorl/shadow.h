// The account's password, as the machine's own file has it.
#ifndef WHORL_SHADOW_H
#define WHORL_SHADOW_H

#include <shadow.h>

// Whether this is the password of the account. 1 also where that cannot be told: for an account without an entry (NULL),
// as from a directory service, and for a hash that crypt(3) does not know.
int whorl_is_password(const struct spwd *entry, const char *password);

#endif
