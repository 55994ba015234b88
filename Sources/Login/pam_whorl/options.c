#include "options.h"

#include <security/pam_ext.h>
#include <string.h>
#include <syslog.h>

// Leaves out automatic logins, and sshd, su, sudo, cron and systemd-user, which run Debian's common-session, too.
static const char usual[] = "gdm-password,gdm-fingerprint,sddm,lightdm,greetd,login";
static const char services[] = "services=";

static int contains(const char *list, const char *name) {
  size_t length = strlen(name);
  while (length > 0) {
    size_t part = strcspn(list, ",");
    if (part == length && strncmp(list, name, length) == 0) return 1;
    if (list[part] == '\0') return 0;
    list += part + 1;
  }
  return 0;
}

whorl_options whorl_options_read(pam_handle_t *pamh, int count, const char **words) {
  whorl_options options = {.services = usual};
  for (int index = 0; index < count; index++) {
    if (strncmp(words[index], services, sizeof services - 1) == 0)
      options.services = words[index] + sizeof services - 1;
    else if (strcmp(words[index], "first-password") == 0)
      options.first_password = 1;
    else if (strcmp(words[index], "verify") == 0)
      options.verify = 1;
    else if (strcmp(words[index], "serial") == 0)
      options.serial = 1;
    else
      pam_syslog(pamh, LOG_ERR, "the option %s is not known", words[index]);
  }
  return options;
}

static int is_in(pam_handle_t *pamh, const char *list) {
  const void *name = NULL;
  return pam_get_item(pamh, PAM_SERVICE, &name) == PAM_SUCCESS && name != NULL && contains(list, name);
}

int whorl_serves(pam_handle_t *pamh, whorl_options options) { return is_in(pamh, options.services); }

int whorl_is_greeter(pam_handle_t *pamh) { return is_in(pamh, usual); }
