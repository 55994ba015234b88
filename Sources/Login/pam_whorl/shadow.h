// The account's password in the machine's own file.
#ifndef WHORL_SHADOW_H
#define WHORL_SHADOW_H

#include <shadow.h>

// Whether this is the password of the account. Also 1 if that is unknown: for an account without an entry (NULL), as
// from a directory service, and for a hash that crypt(3) does not support.
int whorl_is_password(const struct spwd *entry, const char *password);

#endif
