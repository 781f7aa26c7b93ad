#define _GNU_SOURCE
#include <errno.h>
#include <grp.h>
#include <pwd.h>
#include <stdlib.h>
#include <string.h>

#include "fault_point.h"
#include "linux_shims.h"

// The databases give no bound for an entry (a group lists its members): grown up to this.
#define MAXIMUM_ENTRY ((size_t)16 << 20)

// Calls EXPRESSION, which sets `error` and `found`, with `space` of growing `size`.
#define WITH_GROWING_SPACE(EXPRESSION)                                     \
  char *space = NULL;                                                      \
  size_t size = 1024;                                                      \
  int error;                                                               \
  for (;;) {                                                               \
    char *larger = FAULT_POINT("realloc") > 0 ? NULL : realloc(space, size); \
    if (larger == NULL) {                                                  \
      free(space);                                                         \
      return -ENOMEM;                                                      \
    }                                                                      \
    space = larger;                                                        \
    found = NULL;                                                          \
    error = (EXPRESSION);                                                  \
    if (error != EINTR && !(error == ERANGE && size < MAXIMUM_ENTRY)) break; \
    if (error == ERANGE) size *= 2;                                        \
  }

static int64_t copy_name(const char *name, void *buffer, size_t capacity) {
  size_t length = strlen(name);
  if (length > capacity) return -ERANGE;
  memcpy(buffer, name, length);
  return (int64_t)length;
}

int64_t starc_user_name(uint32_t identifier, void *buffer, size_t capacity) {
  struct passwd entry, *found;
  WITH_GROWING_SPACE(getpwuid_r(identifier, &entry, space, size, &found))
  int64_t result = found != NULL ? copy_name(entry.pw_name, buffer, capacity) : 0;
  free(space);
  return result;
}

int64_t starc_group_name(uint32_t identifier, void *buffer, size_t capacity) {
  struct group entry, *found;
  WITH_GROWING_SPACE(getgrgid_r(identifier, &entry, space, size, &found))
  int64_t result = found != NULL ? copy_name(entry.gr_name, buffer, capacity) : 0;
  free(space);
  return result;
}

int64_t starc_user_id(const char *name) {
  struct passwd entry, *found;
  WITH_GROWING_SPACE(getpwnam_r(name, &entry, space, size, &found))
  int64_t result = found != NULL ? (int64_t)entry.pw_uid : -ENOENT;
  free(space);
  return result;
}

int64_t starc_group_id(const char *name) {
  struct group entry, *found;
  WITH_GROWING_SPACE(getgrnam_r(name, &entry, space, size, &found))
  int64_t result = found != NULL ? (int64_t)entry.gr_gid : -ENOENT;
  free(space);
  return result;
}
