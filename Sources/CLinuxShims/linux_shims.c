#define _GNU_SOURCE
#include "linux_shims.h"

#include "fault_point.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/fs.h>
#include <poll.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <sys/random.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <sys/syscall.h>
#include <sys/sysmacros.h>
#include <sys/uio.h>
#include <sys/xattr.h>
#include <unistd.h>

const int32_t starc_O_RDONLY = O_RDONLY, starc_O_WRONLY = O_WRONLY, starc_O_RDWR = O_RDWR, starc_O_CREAT = O_CREAT,
              starc_O_EXCL = O_EXCL, starc_O_DIRECTORY = O_DIRECTORY, starc_O_NOFOLLOW = O_NOFOLLOW,
              starc_O_NONBLOCK = O_NONBLOCK, starc_O_PATH = O_PATH, starc_O_TMPFILE = O_TMPFILE,
              starc_O_NOATIME = O_NOATIME, starc_O_TRUNC = O_TRUNC, starc_O_APPEND = O_APPEND;
const int32_t starc_AT_FDCWD = AT_FDCWD;

// The one place where an interrupted call is repeated. `SHORT` is a statement that makes a transfer shorter.
#define RETURN_CALL_OR_SHORT(NAME, EXPRESSION, SHORT)  \
  for (;;) {                                           \
    int32_t fault = FAULT_POINT(NAME);                 \
    int64_t result;                                    \
    if (fault > 0) {                                   \
      result = -1;                                     \
      errno = fault;                                   \
    } else {                                           \
      if (fault == STARC_FAULT_SHORT) SHORT;           \
      result = (EXPRESSION);                           \
    }                                                  \
    if (result >= 0) return result;                    \
    if (errno != EINTR) return -(int64_t)errno;        \
  }
#define RETURN_CALL(NAME, EXPRESSION) RETURN_CALL_OR_SHORT(NAME, EXPRESSION, (void)0)
#define HALVE(COUNT) COUNT = COUNT > 1 ? COUNT / 2 : COUNT

int64_t starc_openat(int32_t directory, const char *name, int32_t flags, uint32_t mode) {
  RETURN_CALL("openat", openat(directory, name, flags | O_CLOEXEC | O_NOCTTY | O_LARGEFILE, (mode_t)mode))
}

// Not repeated: Linux has released the descriptor even if it reports EINTR.
int64_t starc_close(int32_t descriptor) {
  int32_t fault = FAULT_POINT("close");
  int result = close(descriptor);
  if (fault > 0 && fault != EINTR) return -(int64_t)fault;
  return result == 0 || errno == EINTR ? 0 : -(int64_t)errno;
}

int64_t starc_dup(int32_t descriptor) { RETURN_CALL("dup", fcntl(descriptor, F_DUPFD_CLOEXEC, 3)) }

static void convert(const struct statx *from, starc_status *to) {
  *to = (starc_status){
      .mode = from->stx_mode,
      .link_count = from->stx_nlink,
      .user_id = from->stx_uid,
      .group_id = from->stx_gid,
      .byte_count = (int64_t)from->stx_size,
      .block_count = (int64_t)from->stx_blocks,
      .modification_seconds = from->stx_mtime.tv_sec,
      .change_seconds = from->stx_ctime.tv_sec,
      .modification_nanoseconds = from->stx_mtime.tv_nsec,
      .change_nanoseconds = from->stx_ctime.tv_nsec,
      .device_major = from->stx_dev_major,
      .device_minor = from->stx_dev_minor,
      .special_device_major = from->stx_rdev_major,
      .special_device_minor = from->stx_rdev_minor,
      .inode = from->stx_ino,
  };
#ifdef STATX_MNT_ID
  if (from->stx_mask & STATX_MNT_ID) to->mount_id = from->stx_mnt_id;
#endif
}

#ifndef STATX_MNT_ID
#define STATX_MNT_ID 0
#endif
static int64_t status_call(int32_t directory, const char *name, int32_t flags, struct statx *buffer) {
  RETURN_CALL("statx", statx(directory, name, flags | AT_NO_AUTOMOUNT, STATX_BASIC_STATS | STATX_MNT_ID, buffer))
}

int64_t starc_fstatx(int32_t descriptor, starc_status *status) {
  struct statx buffer;
  int64_t result = status_call(descriptor, "", AT_EMPTY_PATH, &buffer);
  if (result >= 0) convert(&buffer, status);
  return result;
}

int64_t starc_statx(int32_t directory, const char *name, int32_t follow, starc_status *status) {
  struct statx buffer;
  int64_t result = status_call(directory, name, follow ? 0 : AT_SYMLINK_NOFOLLOW, &buffer);
  if (result >= 0) convert(&buffer, status);
  return result;
}

int64_t starc_readlinkat(int32_t directory, const char *name, void *buffer, size_t capacity) {
  RETURN_CALL("readlinkat", readlinkat(directory, name, buffer, capacity))
}
int64_t starc_mkdirat(int32_t directory, const char *name, uint32_t mode) {
  RETURN_CALL("mkdirat", mkdirat(directory, name, (mode_t)mode))
}
int64_t starc_unlinkat(int32_t directory, const char *name, int32_t is_directory) {
  RETURN_CALL("unlinkat", unlinkat(directory, name, is_directory ? AT_REMOVEDIR : 0))
}
int64_t starc_symlinkat(const char *target, int32_t directory, const char *name) {
  RETURN_CALL("symlinkat", symlinkat(target, directory, name))
}
int64_t starc_linkat(int32_t old_directory, const char *old_name, int32_t new_directory, const char *new_name) {
  RETURN_CALL("linkat", linkat(old_directory, old_name, new_directory, new_name, 0))
}
// Through /proc, since naming the descriptor itself (AT_EMPTY_PATH) needs a privilege.
int64_t starc_link_descriptor(int32_t descriptor, int32_t directory, const char *name) {
  char path[40];
  snprintf(path, sizeof path, "/proc/self/fd/%d", (int)descriptor);
  RETURN_CALL("linkat", linkat(AT_FDCWD, path, directory, name, AT_SYMLINK_FOLLOW))
}
int64_t starc_mknodat(int32_t directory, const char *name, uint32_t mode, uint32_t major, uint32_t minor) {
  RETURN_CALL("mknodat", mknodat(directory, name, (mode_t)mode, makedev(major, minor)))
}
int64_t starc_renameat(int32_t old_directory, const char *old_name, int32_t new_directory, const char *new_name,
                       int32_t how) {
  if (how == 0) RETURN_CALL("renameat", renameat(old_directory, old_name, new_directory, new_name))
  unsigned flags = how == 1 ? RENAME_NOREPLACE : RENAME_EXCHANGE;
  RETURN_CALL("renameat2", renameat2(old_directory, old_name, new_directory, new_name, flags))
}

int64_t starc_fchmod(int32_t descriptor, uint32_t mode) { RETURN_CALL("fchmod", fchmod(descriptor, (mode_t)mode)) }
// glibc 2.32 and later never follow here: it opens with O_PATH and refuses a symlink (EOPNOTSUPP).
int64_t starc_fchmodat(int32_t directory, const char *name, uint32_t mode) {
  RETURN_CALL("fchmodat", fchmodat(directory, name, (mode_t)mode, AT_SYMLINK_NOFOLLOW))
}
int64_t starc_fchown(int32_t descriptor, uint32_t user, uint32_t group) {
  RETURN_CALL("fchown", fchown(descriptor, user, group))
}
int64_t starc_fchownat(int32_t directory, const char *name, uint32_t user, uint32_t group) {
  RETURN_CALL("fchownat", fchownat(directory, name, user, group, AT_SYMLINK_NOFOLLOW))
}
int64_t starc_utimensat(int32_t directory, const char *name, int64_t seconds, uint32_t nanoseconds) {
  struct timespec times[2] = {{.tv_nsec = UTIME_OMIT}, {.tv_sec = seconds, .tv_nsec = nanoseconds}};
  if (nanoseconds > 999999999) return -EINVAL;
  if (name[0] == 0) RETURN_CALL("utimensat", futimens(directory, times))
  RETURN_CALL("utimensat", utimensat(directory, name, times, AT_SYMLINK_NOFOLLOW))
}
// Signals that a write would raise, SIGPIPE and (only where RLIMIT_FSIZE is set, looked at once) SIGXFSZ, are blocked in
// the calling thread around the write and the one that came is taken back: a library may not change what the process
// does with signals.
typedef struct {
  sigset_t before, ours, pending_before;
  int changed;
} signal_guard;

static int file_size_is_limited;
static void look_at_file_size_limit(void) {
  struct rlimit limit;
  file_size_is_limited = getrlimit(RLIMIT_FSIZE, &limit) == 0 && limit.rlim_cur != RLIM_INFINITY;
}

static void guard_begin(signal_guard *guard, int pipe) {
  static pthread_once_t once = PTHREAD_ONCE_INIT;
  pthread_once(&once, look_at_file_size_limit);
  guard->changed = 0;
  if (!pipe && !file_size_is_limited) return;
  sigemptyset(&guard->ours);
  if (pipe) sigaddset(&guard->ours, SIGPIPE);
  if (file_size_is_limited) sigaddset(&guard->ours, SIGXFSZ);
  if (pthread_sigmask(SIG_BLOCK, &guard->ours, &guard->before) != 0) return;
  guard->changed = 1;
  // What the thread had unblocked cannot be pending; of the rest, what is pending already is not ours to take.
  sigemptyset(&guard->pending_before);
  if (sigismember(&guard->before, SIGPIPE) || sigismember(&guard->before, SIGXFSZ)) sigpending(&guard->pending_before);
}

static int64_t guard_end(signal_guard *guard, int64_t result) {
  if (!guard->changed) return result;
  int signal = result == -EPIPE ? SIGPIPE : result == -EFBIG ? SIGXFSZ : 0;
  if (signal != 0 && sigismember(&guard->ours, signal) && !sigismember(&guard->pending_before, signal)) {
    sigset_t one;
    sigemptyset(&one);
    sigaddset(&one, signal);
    struct timespec no_time = {0, 0};
    while (sigtimedwait(&one, NULL, &no_time) < 0 && errno == EINTR) {
    }
  }
  pthread_sigmask(SIG_SETMASK, &guard->before, NULL);
  return result;
}

static int64_t truncate_call(int32_t descriptor, int64_t byte_count) {
  RETURN_CALL("ftruncate", ftruncate(descriptor, byte_count))
}
int64_t starc_ftruncate(int32_t descriptor, int64_t byte_count) {
  signal_guard guard;
  guard_begin(&guard, 0);
  return guard_end(&guard, truncate_call(descriptor, byte_count));
}

int64_t starc_read(int32_t descriptor, void *buffer, size_t byte_count) {
  RETURN_CALL_OR_SHORT("read", read(descriptor, buffer, byte_count), HALVE(byte_count))
}
int64_t starc_pread(int32_t descriptor, void *buffer, size_t byte_count, int64_t offset) {
  RETURN_CALL_OR_SHORT("pread", pread(descriptor, buffer, byte_count, offset), HALVE(byte_count))
}
static int64_t pwrite_call(int32_t descriptor, const void *buffer, size_t byte_count, int64_t offset) {
  RETURN_CALL_OR_SHORT("pwrite", pwrite(descriptor, buffer, byte_count, offset), HALVE(byte_count))
}
int64_t starc_pwrite(int32_t descriptor, const void *buffer, size_t byte_count, int64_t offset) {
  signal_guard guard;
  guard_begin(&guard, 0);
  return guard_end(&guard, pwrite_call(descriptor, buffer, byte_count, offset));
}
int64_t starc_recv(int32_t descriptor, void *buffer, size_t byte_count) {
  RETURN_CALL_OR_SHORT("read", recv(descriptor, buffer, byte_count, MSG_DONTWAIT), HALVE(byte_count))
}

#define MAXIMUM_PIECES 16
static size_t gather(const starc_piece *pieces, size_t count, struct iovec *vector) {
  if (count > MAXIMUM_PIECES) count = MAXIMUM_PIECES;
  for (size_t i = 0; i < count; i++) vector[i] = (struct iovec){(void *)pieces[i].base, pieces[i].byte_count};
  return count;
}
#define SHORTEN_VECTOR   \
  do {                   \
    if (count > 0) {     \
      count = 1;         \
      HALVE(vector[0].iov_len); \
    }                    \
  } while (0)

static int64_t gathered_write(int32_t descriptor, struct iovec *vector, size_t count) {
  RETURN_CALL_OR_SHORT("write", writev(descriptor, vector, (int)count), SHORTEN_VECTOR)
}

static int64_t guarded_write(int32_t descriptor, const starc_piece *pieces, size_t count, int pipe) {
  struct iovec vector[MAXIMUM_PIECES];
  count = gather(pieces, count, vector);
  signal_guard guard;
  guard_begin(&guard, pipe);
  return guard_end(&guard, gathered_write(descriptor, vector, count));
}
int64_t starc_writev(int32_t descriptor, const starc_piece *pieces, size_t count) {
  return guarded_write(descriptor, pieces, count, 1);
}
int64_t starc_writev_file(int32_t descriptor, const starc_piece *pieces, size_t count) {
  return guarded_write(descriptor, pieces, count, 0);
}

static int64_t gathered_write_at(int32_t descriptor, struct iovec *vector, size_t count, int64_t offset) {
  RETURN_CALL_OR_SHORT("write", pwritev(descriptor, vector, (int)count, offset), SHORTEN_VECTOR)
}
int64_t starc_pwritev_file(int32_t descriptor, const starc_piece *pieces, size_t count, int64_t offset) {
  struct iovec vector[MAXIMUM_PIECES];
  count = gather(pieces, count, vector);
  signal_guard guard;
  guard_begin(&guard, 0);
  return guard_end(&guard, gathered_write_at(descriptor, vector, count, offset));
}

int64_t starc_sendmsg(int32_t descriptor, const starc_piece *pieces, size_t count) {
  struct iovec vector[MAXIMUM_PIECES];
  count = gather(pieces, count, vector);
  struct msghdr message;
  memset(&message, 0, sizeof message);
  message.msg_iov = vector;
  RETURN_CALL_OR_SHORT(
      "write", (message.msg_iovlen = count, sendmsg(descriptor, &message, MSG_NOSIGNAL | MSG_DONTWAIT)), SHORTEN_VECTOR)
}

int64_t starc_fsync(int32_t descriptor) { RETURN_CALL("fsync", fsync(descriptor)) }
int64_t starc_syncfs(int32_t descriptor) { RETURN_CALL("syncfs", syncfs(descriptor)) }
int64_t starc_seek_data(int32_t descriptor, int64_t offset) {
  RETURN_CALL("lseek", lseek(descriptor, offset, SEEK_DATA))
}
int64_t starc_seek_hole(int32_t descriptor, int64_t offset) {
  RETURN_CALL("lseek", lseek(descriptor, offset, SEEK_HOLE))
}
int64_t starc_lseek(int32_t descriptor, int64_t offset, int32_t whence) {
  RETURN_CALL("lseek", lseek(descriptor, offset, whence == 0 ? SEEK_SET : whence == 1 ? SEEK_CUR : SEEK_END))
}
int64_t starc_fadvise(int32_t descriptor, int64_t offset, int64_t byte_count, int32_t advice) {
  static const int advices[] = {POSIX_FADV_SEQUENTIAL, POSIX_FADV_WILLNEED, POSIX_FADV_DONTNEED, POSIX_FADV_RANDOM};
  int32_t fault = FAULT_POINT("fadvise");
  if (fault > 0) return -(int64_t)fault;
  return -(int64_t)posix_fadvise(descriptor, offset, byte_count, advices[advice & 3]);
}
int64_t starc_fallocate_keep_size(int32_t descriptor, int64_t offset, int64_t byte_count) {
  RETURN_CALL("fallocate", fallocate(descriptor, FALLOC_FL_KEEP_SIZE, offset, byte_count))
}
int64_t starc_flock_exclusive(int32_t descriptor) { RETURN_CALL("flock", flock(descriptor, LOCK_EX | LOCK_NB)) }
int64_t starc_getdents64(int32_t descriptor, void *buffer, size_t capacity) {
  RETURN_CALL("getdents64", syscall(SYS_getdents64, descriptor, buffer, capacity))
}

int64_t starc_flistxattr(int32_t descriptor, void *buffer, size_t capacity) {
  RETURN_CALL("listxattr", flistxattr(descriptor, buffer, capacity))
}
int64_t starc_fgetxattr(int32_t descriptor, const char *name, void *buffer, size_t capacity) {
  RETURN_CALL("getxattr", fgetxattr(descriptor, name, buffer, capacity))
}
int64_t starc_fsetxattr(int32_t descriptor, const char *name, const void *value, size_t byte_count) {
  RETURN_CALL("setxattr", fsetxattr(descriptor, name, value, byte_count, 0))
}
int64_t starc_fremovexattr(int32_t descriptor, const char *name) {
  RETURN_CALL("removexattr", fremovexattr(descriptor, name))
}
int64_t starc_llistxattr(const char *path, void *buffer, size_t capacity) {
  RETURN_CALL("listxattr", llistxattr(path, buffer, capacity))
}
int64_t starc_lgetxattr(const char *path, const char *name, void *buffer, size_t capacity) {
  RETURN_CALL("getxattr", lgetxattr(path, name, buffer, capacity))
}
int64_t starc_lsetxattr(const char *path, const char *name, const void *value, size_t byte_count) {
  RETURN_CALL("setxattr", lsetxattr(path, name, value, byte_count, 0))
}

int64_t starc_mmap(size_t byte_count, void **address) {
  int32_t fault = FAULT_POINT("mmap");
  if (fault > 0) return -(int64_t)fault;
  void *result = mmap(NULL, byte_count, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (result == MAP_FAILED) return -(int64_t)errno;
  *address = result;
  return 0;
}
void *starc_codec_allocate(void *opaque, size_t byte_count) {
  (void)opaque;
  return FAULT_POINT("malloc") > 0 ? NULL : malloc(byte_count);
}
void starc_codec_free(void *opaque, void *address) {
  (void)opaque;
  free(address);
}
void starc_munmap(void *address, size_t byte_count) { munmap(address, byte_count); }
void starc_discard(void *address, size_t byte_count) { madvise(address, byte_count, MADV_DONTNEED); }

int64_t starc_eventfd(void) { RETURN_CALL("eventfd", eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)) }
int64_t starc_eventfd_signal(int32_t descriptor) {
  uint64_t one = 1;
  RETURN_CALL("eventfd_write", write(descriptor, &one, sizeof one))
}

static int64_t poll_call(struct pollfd *items, int32_t timeout) { RETURN_CALL("poll", poll(items, 2, timeout)) }

int64_t starc_poll(int32_t descriptor, int32_t writing, int32_t wake, int32_t timeout_milliseconds) {
  struct pollfd items[2] = {{.fd = descriptor, .events = writing ? POLLOUT : POLLIN}, {.fd = wake, .events = POLLIN}};
  int64_t result = poll_call(items, timeout_milliseconds);
  if (result < 0) return result;
  return (items[0].revents != 0 ? 1 : 0) + (items[1].revents != 0 ? 2 : 0);
}
int64_t starc_getfl(int32_t descriptor) { RETURN_CALL("fcntl", fcntl(descriptor, F_GETFL)) }

static int64_t statvfs_call(int32_t descriptor, struct statvfs *status) {
  RETURN_CALL("fstatvfs", fstatvfs(descriptor, status))
}
int64_t starc_statvfs(int32_t descriptor, uint64_t *free_bytes, uint64_t *free_inodes) {
  struct statvfs status;
  int64_t result = statvfs_call(descriptor, &status);
  if (result < 0) return result;
  *free_bytes = (uint64_t)status.f_bavail * status.f_frsize;
  *free_inodes = status.f_favail;
  return 0;
}

int64_t starc_available_cores(void) {
  int32_t fault = FAULT_POINT("sched_getaffinity");
  if (fault > 0) return -(int64_t)fault;
  // Machines with more than 1024 cores need a larger set.
  for (int cores = 1024; cores <= 1 << 18; cores *= 2) {
    cpu_set_t *set = CPU_ALLOC(cores);
    if (set == NULL) return -ENOMEM;
    size_t size = CPU_ALLOC_SIZE(cores);
    int result = sched_getaffinity(0, size, set);
    int error = errno, count = result == 0 ? CPU_COUNT_S(size, set) : 0;
    CPU_FREE(set);
    if (result == 0) return count;
    if (error != EINVAL) return -(int64_t)error;
  }
  return -EINVAL;
}
int64_t starc_random(void *buffer, size_t byte_count) { RETURN_CALL("getrandom", getrandom(buffer, byte_count, 0)) }
uint32_t starc_geteuid(void) { return geteuid(); }

void starc_error_text(int32_t error, char *buffer, size_t capacity) {
  const char *text = strerrordesc_np(error);
  if (capacity == 0) return;
  strncpy(buffer, text != NULL ? text : "unknown error", capacity - 1);
  buffer[capacity - 1] = 0;
}
const char *starc_getenv(const char *name) { return getenv(name); }
