#include "password.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

static const char name[] = "whorl_password";

char *whorl_page_make(void) {
  char *page = mmap(NULL, whorl_page_size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (page == MAP_FAILED) return NULL;
  if (madvise(page, whorl_page_size, MADV_DONTDUMP) != 0 || madvise(page, whorl_page_size, MADV_WIPEONFORK) != 0) {
    munmap(page, whorl_page_size);
    return NULL;
  }
  // Some containers forbid mlock. The page may then be swapped, like the login program's own copy of the password.
  (void)mlock(page, whorl_page_size);
  return page;
}

void whorl_page_wipe(char *page) {
  explicit_bzero(page, whorl_page_size);
  munmap(page, whorl_page_size);
}

static void wipe(pam_handle_t *pamh, void *data, int status) {
  (void)pamh;
  (void)status;
  whorl_page_wipe(data);
}

void whorl_password_keep(pam_handle_t *pamh, const char *password) {
  size_t length = strlen(password);
  if (length == 0 || length >= whorl_page_size) return;
  char *kept = whorl_page_make();
  if (kept == NULL) return;
  memcpy(kept, password, length + 1);
  // On success PAM owns the page, and wipes an earlier one.
  if (pam_set_data(pamh, name, kept, wipe) != PAM_SUCCESS) wipe(pamh, kept, 0);
}

const char *whorl_password_kept(pam_handle_t *pamh) {
  const void *kept = NULL;
  if (pam_get_data(pamh, name, &kept) != PAM_SUCCESS || kept == NULL) return NULL;
  // The page is empty in a process forked from the one that kept the password.
  return *(const char *)kept == '\0' ? NULL : kept;
}

void whorl_password_forget(pam_handle_t *pamh) {
  const void *kept = NULL;
  if (pam_get_data(pamh, name, &kept) == PAM_SUCCESS && kept != NULL) pam_set_data(pamh, name, NULL, NULL);
}

int whorl_password_file(const char *password) {
  int file = memfd_create("whorl-secret", MFD_CLOEXEC | MFD_ALLOW_SEALING);
  if (file < 0) return -errno;
  size_t length = strlen(password), written = 0;
  while (written < length) {
    ssize_t result = write(file, password + written, length - written);
    if (result < 0 && errno == EINTR) continue;
    if (result <= 0) {
      close(file);
      return -EIO;
    }
    written += (size_t)result;
  }
  if (fcntl(file, F_ADD_SEALS, F_SEAL_SEAL | F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_WRITE) != 0) {
    int problem = errno;
    close(file);
    return -problem;
  }
  return file;
}
