// System calls and constants that `import Glibc` does not show to Swift, in one form: every wrapper returns a value
// of at least zero, or the negated errno. Interrupted calls are repeated inside (see `linux_shims.c`), so that EINTR
// is never seen outside.
#pragma once
#include <stddef.h>
#include <stdint.h>

#include "linux_faults.h"

// open(2) flags; the values depend on the architecture.
extern const int32_t starc_O_RDONLY, starc_O_WRONLY, starc_O_RDWR, starc_O_CREAT, starc_O_EXCL, starc_O_DIRECTORY,
    starc_O_NOFOLLOW, starc_O_NONBLOCK, starc_O_PATH, starc_O_TMPFILE, starc_O_NOATIME, starc_O_TRUNC, starc_O_APPEND;
extern const int32_t starc_AT_FDCWD;

// What `statx` says, without its layout.
typedef struct {
  uint32_t mode;  // type and permission bits
  uint32_t link_count, user_id, group_id;
  int64_t byte_count, block_count;  // blocks of 512 bytes
  int64_t modification_seconds, change_seconds;
  uint32_t modification_nanoseconds, change_nanoseconds;
  uint32_t device_major, device_minor;            // of the file system
  uint32_t special_device_major, special_device_minor;  // of a device node
  uint64_t inode;
  uint64_t mount_id;  // 0 where the kernel does not tell
} starc_status;

// One piece of a gathered write.
typedef struct {
  const void *_Nullable base;
  size_t byte_count;
} starc_piece;

int64_t starc_openat(int32_t directory, const char *_Nonnull name, int32_t flags, uint32_t mode);
int64_t starc_close(int32_t descriptor);
int64_t starc_dup(int32_t descriptor);
int64_t starc_fstatx(int32_t descriptor, starc_status *_Nonnull status);
int64_t starc_statx(int32_t directory, const char *_Nonnull name, int32_t follow, starc_status *_Nonnull status);
int64_t starc_readlinkat(int32_t directory, const char *_Nonnull name, void *_Nonnull buffer, size_t capacity);
int64_t starc_mkdirat(int32_t directory, const char *_Nonnull name, uint32_t mode);
int64_t starc_unlinkat(int32_t directory, const char *_Nonnull name, int32_t is_directory);
int64_t starc_symlinkat(const char *_Nonnull target, int32_t directory, const char *_Nonnull name);
int64_t starc_linkat(int32_t old_directory, const char *_Nonnull old_name, int32_t new_directory,
                     const char *_Nonnull new_name);
// Gives an open file that has no name (O_TMPFILE) its first one; needs /proc.
int64_t starc_link_descriptor(int32_t descriptor, int32_t directory, const char *_Nonnull name);
int64_t starc_mknodat(int32_t directory, const char *_Nonnull name, uint32_t mode, uint32_t major, uint32_t minor);
// `how`: 0 replaces, 1 does not replace, 2 exchanges.
int64_t starc_renameat(int32_t old_directory, const char *_Nonnull old_name, int32_t new_directory,
                       const char *_Nonnull new_name, int32_t how);
int64_t starc_fchmod(int32_t descriptor, uint32_t mode);
int64_t starc_fchmodat(int32_t directory, const char *_Nonnull name, uint32_t mode);
int64_t starc_fchown(int32_t descriptor, uint32_t user, uint32_t group);
int64_t starc_fchownat(int32_t directory, const char *_Nonnull name, uint32_t user, uint32_t group);
// Sets the modification time alone. An empty name means `directory` itself.
int64_t starc_utimensat(int32_t directory, const char *_Nonnull name, int64_t seconds, uint32_t nanoseconds);
int64_t starc_ftruncate(int32_t descriptor, int64_t byte_count);
int64_t starc_read(int32_t descriptor, void *_Nullable buffer, size_t byte_count);
int64_t starc_pread(int32_t descriptor, void *_Nullable buffer, size_t byte_count, int64_t offset);
int64_t starc_pwrite(int32_t descriptor, const void *_Nullable buffer, size_t byte_count, int64_t offset);
// At most 16 pieces a call. Never raises SIGPIPE: the signal is blocked in the calling thread and taken back.
int64_t starc_writev(int32_t descriptor, const starc_piece *_Nonnull pieces, size_t count);
// The same for files that cannot raise SIGPIPE (regular files): no signal mask is changed.
int64_t starc_writev_file(int32_t descriptor, const starc_piece *_Nonnull pieces, size_t count);
// The same at an offset; the descriptor's position stays.
int64_t starc_pwritev_file(int32_t descriptor, const starc_piece *_Nonnull pieces, size_t count, int64_t offset);
// sendmsg with MSG_NOSIGNAL | MSG_DONTWAIT.
int64_t starc_sendmsg(int32_t descriptor, const starc_piece *_Nonnull pieces, size_t count);
int64_t starc_recv(int32_t descriptor, void *_Nullable buffer, size_t byte_count);
int64_t starc_fsync(int32_t descriptor);
int64_t starc_syncfs(int32_t descriptor);
int64_t starc_seek_data(int32_t descriptor, int64_t offset);
int64_t starc_seek_hole(int32_t descriptor, int64_t offset);
// `whence`: 0 start, 1 current, 2 end.
int64_t starc_lseek(int32_t descriptor, int64_t offset, int32_t whence);
// `advice`: 0 sequential, 1 will need, 2 do not need, 3 random.
int64_t starc_fadvise(int32_t descriptor, int64_t offset, int64_t byte_count, int32_t advice);
int64_t starc_fallocate_keep_size(int32_t descriptor, int64_t offset, int64_t byte_count);
int64_t starc_flock_exclusive(int32_t descriptor);
int64_t starc_getdents64(int32_t descriptor, void *_Nonnull buffer, size_t capacity);
int64_t starc_flistxattr(int32_t descriptor, void *_Nullable buffer, size_t capacity);
int64_t starc_fgetxattr(int32_t descriptor, const char *_Nonnull name, void *_Nullable buffer, size_t capacity);
int64_t starc_fsetxattr(int32_t descriptor, const char *_Nonnull name, const void *_Nullable value, size_t byte_count);
int64_t starc_fremovexattr(int32_t descriptor, const char *_Nonnull name);
int64_t starc_llistxattr(const char *_Nonnull path, void *_Nullable buffer, size_t capacity);
int64_t starc_lgetxattr(const char *_Nonnull path, const char *_Nonnull name, void *_Nullable buffer, size_t capacity);
int64_t starc_lsetxattr(const char *_Nonnull path, const char *_Nonnull name, const void *_Nullable value,
                        size_t byte_count);

// An anonymous mapping, zero filled; its address is stored. `byte_count` is rounded up by the kernel.
int64_t starc_mmap(size_t byte_count, void *_Nullable *_Nonnull address);
void starc_munmap(void *_Nonnull address, size_t byte_count);
// malloc and free in the form that libzstd asks for, so that tests can make it run out of memory.
void *_Nullable starc_codec_allocate(void *_Nullable opaque, size_t byte_count);
void starc_codec_free(void *_Nullable opaque, void *_Nullable address);
// Gives the memory of a mapping back; what is read afterwards is zeros.
void starc_discard(void *_Nonnull address, size_t byte_count);

int64_t starc_eventfd(void);
int64_t starc_eventfd_signal(int32_t descriptor);
// Waits until `descriptor` is ready for reading (`writing` 0) or writing (1), or `wake` is readable.
// Returns a sum of 1 (descriptor ready or in error) and 2 (wake). -1 as a descriptor is left out.
// `timeout_milliseconds` below zero waits without end; 0 is returned when the time is over.
int64_t starc_poll(int32_t descriptor, int32_t writing, int32_t wake, int32_t timeout_milliseconds);
// The flags of the open file description (F_GETFL).
int64_t starc_getfl(int32_t descriptor);

// The free bytes and inodes of the file system of `descriptor`, for this user.
int64_t starc_statvfs(int32_t descriptor, uint64_t *_Nonnull free_bytes, uint64_t *_Nonnull free_inodes);
int64_t starc_available_cores(void);
int64_t starc_random(void *_Nonnull buffer, size_t byte_count);
uint32_t starc_geteuid(void);

// The name of a user or group: its length, 0 where there is none, -ERANGE where `capacity` is too small.
int64_t starc_user_name(uint32_t identifier, void *_Nonnull buffer, size_t capacity);
int64_t starc_group_name(uint32_t identifier, void *_Nonnull buffer, size_t capacity);
// The id of a name, -ENOENT where there is none.
int64_t starc_user_id(const char *_Nonnull name);
int64_t starc_group_id(const char *_Nonnull name);

// The text for an errno, NUL-terminated, independent of the locale.
void starc_error_text(int32_t error, char *_Nonnull buffer, size_t capacity);
const char *_Nullable starc_getenv(const char *_Nonnull name);
