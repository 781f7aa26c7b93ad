#define _GNU_SOURCE
#include "state_shims.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/openat2.h>
#include <sys/file.h>
#include <sys/syscall.h>
#include <sys/xattr.h>
#include <unistd.h>

int64_t amk_flock_try(int32_t descriptor, int32_t exclusive) {
  int result;
  do result = flock(descriptor, (exclusive ? LOCK_EX : LOCK_SH) | LOCK_NB);
  while (result != 0 && errno == EINTR);
  return result == 0 ? 0 : -errno;
}

int64_t amk_open_beneath(int32_t root, const char *path) {
  struct open_how how = {.flags = O_PATH | O_CLOEXEC, .resolve = RESOLVE_BENEATH | RESOLVE_NO_MAGICLINKS};
  // The kernel gives up with EAGAIN when something is renamed meanwhile and it cannot tell whether ".." went above the root.
  for (int attempt = 0; attempt < 16; attempt++) {
    long result = syscall(SYS_openat2, root, path, &how, sizeof how);
    if (result >= 0) return result;
    if (errno != EAGAIN && errno != EINTR) break;
  }
  return -errno;
}

int64_t amk_remove_attribute(const char *path, const char *name) {
  return lremovexattr(path, name) == 0 ? 0 : -errno;
}
