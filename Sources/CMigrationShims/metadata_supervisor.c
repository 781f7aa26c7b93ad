// Serves the calls that change metadata and that the filter of an export hands over.
//
// "Go on" is never the answer: the kernel would then look at the descriptors and the memory of the extension once more, which may
// have changed by then. The change is read, checked and made here.
#define _GNU_SOURCE
#include "metadata_supervisor.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/capability.h>
#include <linux/seccomp.h>
#include <poll.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <sys/xattr.h>
#include <unistd.h>

#include "launch_parts.h"
#include "metadata_change.h"

enum { OPENAT2 = 437, PIDFD_GETFD = 438, FCHMODAT2 = 452, MEMORY_STEP = 4096 };

int32_t amk_supervision_is_available(void) {
  uint32_t action = SECCOMP_RET_USER_NOTIF;
  if (syscall(SYS_seccomp, SECCOMP_GET_ACTION_AVAIL, 0, &action) != 0) return 0;
  // Calls that exist, and that no filter of a container keeps from the system, find fault with the arguments.
  if (syscall(PIDFD_GETFD, -1, 0, 0) == 0 || errno != EBADF) return 0;
  return syscall(OPENAT2, -1, "", NULL, 0) != 0 && errno == EINVAL;
}

static int read_memory(pid_t thread, uint64_t address, void *target, size_t count) {
  struct iovec here = {target, count}, there = {(void *)(uintptr_t)address, count};
  if (count == 0) return 0;
  return process_vm_readv(thread, &here, 1, &there, 1, 0) == (ssize_t)count ? 0 : -EFAULT;
}

// Reads a string and its NUL, never beyond the page where it ends.
static int read_string(pid_t thread, uint64_t address, char *target, size_t capacity, int too_long) {
  size_t used = 0;
  while (used < capacity) {
    size_t step = MEMORY_STEP - (size_t)((address + used) % MEMORY_STEP);
    if (step > capacity - used) step = capacity - used;
    int result = read_memory(thread, address + used, target + used, step);
    if (result != 0) return result;
    if (memchr(target + used, 0, step)) return 0;
    used += step;
  }
  return -too_long;
}

// What the calls that name a file by a path have in common.
static int read_path(amk_change *change, pid_t thread, int descriptor, uint64_t path, int flags) {
  if (flags & ~(AT_SYMLINK_NOFOLLOW | AT_EMPTY_PATH)) return -EINVAL;
  int result = read_string(thread, path, change->path, sizeof change->path, ENAMETOOLONG);
  if (result != 0) return result;
  change->descriptor = descriptor;
  change->follows = !(flags & AT_SYMLINK_NOFOLLOW);
  change->has_path = change->path[0] != 0;
  if (change->has_path) return 0;
  if (!(flags & AT_EMPTY_PATH)) return -ENOENT;
  change->takes_path_only = 1;
  return descriptor == AT_FDCWD ? -EPERM : 0;
}

static int read_attribute(amk_change *change, pid_t thread, const uint64_t *arguments, int is_set) {
  change->kind = is_set ? AMK_SET_ATTRIBUTE : AMK_REMOVE_ATTRIBUTE;
  int result = read_string(thread, arguments[1], change->name, sizeof change->name, ERANGE);
  if (result != 0) return result;
  // Those of other kinds mean something to the kernel: rights, labels, capabilities.
  if (strncmp(change->name, "user.", 5) != 0) return -EPERM;
  if (!is_set) return 0;
  if (arguments[3] > sizeof change->value) return -E2BIG;
  change->value_count = (size_t)arguments[3];
  change->flags = (int)arguments[4];
  return read_memory(thread, arguments[2], change->value, change->value_count);
}

static void set_owner(amk_change *change, uint64_t user, uint64_t group) {
  change->kind = AMK_CHANGE_OWNER;
  change->user = (uid_t)user;
  change->group = (gid_t)group;
}

static void set_mode(amk_change *change, uint64_t mode) {
  change->kind = AMK_CHANGE_MODE;
  // Never set-id bits: the file would act for the system's user.
  change->mode = (mode_t)mode & 0777;
}

static int read_times(amk_change *change, pid_t thread, const uint64_t *arguments) {
  change->kind = AMK_CHANGE_TIMES;
  change->has_times = arguments[2] != 0;
  if (change->has_times) {
    int result = read_memory(thread, arguments[2], change->times, sizeof change->times);
    if (result != 0) return result;
  }
  if (arguments[1] != 0) return read_path(change, thread, (int)arguments[0], arguments[1], (int)arguments[3]);
  change->descriptor = (int)arguments[0];
  return (int)arguments[3] != 0 ? -EINVAL : 0;
}

// Understands a call: 0 or the negated errno. All that is needed of the thread's memory is copied, once.
static int read_change(amk_change *change, pid_t thread, const struct seccomp_data *call) {
  const uint64_t *arguments = (const uint64_t *)call->args;
  memset(change, 0, offsetof(amk_change, value));
  change->descriptor = (int)arguments[0];
  switch (call->nr) {
    case SYS_fchmod: set_mode(change, arguments[1]); return 0;
    case SYS_fchown: set_owner(change, arguments[1], arguments[2]); return 0;
    case SYS_fsetxattr: return read_attribute(change, thread, arguments, 1);
    case SYS_fremovexattr: return read_attribute(change, thread, arguments, 0);
    case SYS_utimensat: return read_times(change, thread, arguments);
    case SYS_fchmodat:
      set_mode(change, arguments[2]);
      return read_path(change, thread, (int)arguments[0], arguments[1], 0);
    case FCHMODAT2:
      set_mode(change, arguments[2]);
      return read_path(change, thread, (int)arguments[0], arguments[1], (int)arguments[3]);
    case SYS_fchownat:
      set_owner(change, arguments[2], arguments[3]);
      return read_path(change, thread, (int)arguments[0], arguments[1], (int)arguments[4]);
#ifdef __x86_64__
    case SYS_chmod:
      set_mode(change, arguments[1]);
      return read_path(change, thread, AT_FDCWD, arguments[0], 0);
    case SYS_chown: case SYS_lchown:
      set_owner(change, arguments[1], arguments[2]);
      return read_path(change, thread, AT_FDCWD, arguments[0], call->nr == SYS_lchown ? AT_SYMLINK_NOFOLLOW : 0);
#endif
    case SYS_setxattr: case SYS_lsetxattr: case SYS_removexattr: case SYS_lremovexattr: {
      int result = read_attribute(change, thread, arguments, call->nr == SYS_setxattr || call->nr == SYS_lsetxattr);
      if (result != 0) return result;
      int follows = call->nr == SYS_setxattr || call->nr == SYS_removexattr;
      return read_path(change, thread, AT_FDCWD, arguments[0], follows ? 0 : AT_SYMLINK_NOFOLLOW);
    }
    default: return -EPERM;
  }
}

int amk_change_make(const amk_change *change, int file) {
  // Such a link leads to the open file itself, whatever its name is by now, and works for O_PATH descriptors too.
  char path[64];
  snprintf(path, sizeof path, "/proc/self/fd/%d", file);
  int result = -1;
  switch (change->kind) {
    case AMK_CHANGE_MODE: result = chmod(path, change->mode); break;
    case AMK_CHANGE_OWNER: result = chown(path, change->user, change->group); break;
    case AMK_CHANGE_TIMES: result = utimensat(AT_FDCWD, path, change->has_times ? change->times : NULL, 0); break;
    case AMK_SET_ATTRIBUTE: result = setxattr(path, change->name, change->value, change->value_count, change->flags); break;
    case AMK_REMOVE_ATTRIBUTE: result = removexattr(path, change->name); break;
  }
  return result != 0 ? -errno : 0;
}

// Serves one call. `change` is room for it.
static int serve(int listener, int directory, const struct seccomp_notif *call, amk_change *change) {
  pid_t thread = (pid_t)call->pid;
  // 0: not of this system's name space of processes.
  if (thread <= 0) return -EPERM;
  int result = read_change(change, thread, &call->data);
  if (result != 0) return result;
  int file = amk_change_find(change, thread, directory);
  if (file < 0) return file;
  // Were the thread gone, its number, and all that was read by it, could be another's.
  result = ioctl(listener, SECCOMP_IOCTL_NOTIF_ID_VALID, &call->id) == 0 ? amk_change_make(change, file) : -EPERM;
  close(file);
  return result;
}

// What the extension may not, the system must not do for it. Looking into its processes is all that remains beyond.
static int drop_privileges(void) {
  return geteuid() == 0 ? amk_keep_capabilities(AMK_EXTENSION_CAPABILITIES | 1U << CAP_SYS_PTRACE) : amk_keep_capabilities(0);
}

static void serve_all(int listener, int process, int directory) {
  struct seccomp_notif_sizes sizes;
  // Newer kernels may write more than the structures of these headers hold.
  if (syscall(SYS_seccomp, SECCOMP_GET_NOTIF_SIZES, 0, &sizes) != 0 || drop_privileges() != 0) return;
  size_t call_count = sizes.seccomp_notif > sizeof(struct seccomp_notif) ? sizes.seccomp_notif : sizeof(struct seccomp_notif);
  size_t answer_count = sizes.seccomp_notif_resp > sizeof(struct seccomp_notif_resp) ? sizes.seccomp_notif_resp
                                                                                     : sizeof(struct seccomp_notif_resp);
  struct seccomp_notif *call = malloc(call_count);
  struct seccomp_notif_resp *answer = malloc(answer_count);
  amk_change *change = malloc(sizeof *change);
  while (call && answer && change) {
    struct pollfd ready[] = {{listener, POLLIN, 0}, {process, POLLIN, 0}};
    if (poll(ready, 2, -1) < 0) {
      if (errno == EINTR) continue;
      break;
    }
    // The end of the process comes first, however many calls others of its group still make.
    if (ready[1].revents != 0 || (ready[0].revents & ~POLLIN) != 0) break;
    memset(call, 0, call_count);
    // A thread that was killed meanwhile asks for nothing any more (ENOENT).
    if (ioctl(listener, SECCOMP_IOCTL_NOTIF_RECV, call) != 0) {
      if (errno == ENOENT || errno == EINTR) continue;
      break;
    }
    memset(answer, 0, answer_count);
    answer->id = call->id;
    answer->error = serve(listener, directory, call, change);
    ioctl(listener, SECCOMP_IOCTL_NOTIF_SEND, answer);
  }
  free(change);
  free(answer);
  free(call);
}

void amk_supervise_metadata(int32_t listener, int32_t process, int32_t directory) {
  serve_all(listener, process, directory);
  close(listener);
}
