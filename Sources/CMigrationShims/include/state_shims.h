// Locks, links and attributes of places that belong to a migration; a value of at least zero, or the negated errno.
#pragma once
#include <stdint.h>

// Takes a lock of the whole file, shared (0) or exclusive (1), without waiting: -EWOULDBLOCK while others hold it. The lock belongs to the
// open file: it lives until the last descriptor for it, inherited ones included, is closed.
int64_t amk_flock_try(int32_t descriptor, int32_t exclusive);
// Opens with O_PATH what `path` leads to, links followed, but only below `root` (openat2, RESOLVE_BENEATH).
int64_t amk_open_beneath(int32_t root, const char *_Nonnull path);
// Removes an extended attribute of what has this path, a symlink itself included.
int64_t amk_remove_attribute(const char *_Nonnull path, const char *_Nonnull name);
