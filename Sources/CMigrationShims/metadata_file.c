// Finds the file whose metadata an extension wants to change.
//
// What an extension says may mean something else a moment later: another of its threads puts another file behind the descriptor, or
// another name into the memory. So everything is decided on a descriptor of the system's own, which nobody else can change.
#define _GNU_SOURCE
#include "metadata_change.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

// The kernel's numbers, written down here because the headers of older systems lack them.
enum { PIDFD_OPEN = 434, OPENAT2 = 437, PIDFD_GETFD = 438, PIDFD_FOR_THREAD = O_EXCL };
enum { RESOLVE_NO_XDEV_ = 1, RESOLVE_NO_MAGICLINKS_ = 2, RESOLVE_BENEATH_ = 8 };
// A rename anywhere on the system can make a safe lookup fail; so many times it is tried again.
enum { LOOKUP_TURNS = 8 };

struct open_how_ {
  uint64_t flags, mode, resolve;
};

// Reads a file in /proc as text.
static int read_text(const char *path, char *text, size_t capacity) {
  int file = open(path, O_RDONLY | O_CLOEXEC);
  if (file < 0) return -1;
  ssize_t count = read(file, text, capacity - 1);
  close(file);
  if (count < 0) return -1;
  text[count] = 0;
  return 0;
}

// The number behind a label at the start of a line; -1 when there is none.
static long find_number(const char *text, const char *label) {
  const char *found = strstr(text, label);
  return found ? strtol(found + strlen(label), NULL, 10) : -1;
}

// The process of a thread.
static pid_t process_of(pid_t thread) {
  char path[64], text[4096];
  snprintf(path, sizeof path, "/proc/%d/status", thread);
  if (read_text(path, text, sizeof text) != 0) return -1;
  return (pid_t)find_number(text, "\nTgid:");
}

static int open_thread(pid_t thread) {
  int handle = (int)syscall(PIDFD_OPEN, thread, PIDFD_FOR_THREAD);
  if (handle >= 0) return handle;
  // Before Linux 6.9 only a process has a handle. Its threads share the descriptors, unless it takes pains.
  pid_t process = process_of(thread);
  return process > 0 ? (int)syscall(PIDFD_OPEN, process, 0) : -1;
}

// A duplicate of a thread's descriptor.
static int duplicate(pid_t thread, int descriptor) {
  int handle = open_thread(thread);
  if (handle < 0) return -EPERM;
  int copy = (int)syscall(PIDFD_GETFD, handle, descriptor, 0);
  int error = errno;
  close(handle);
  if (copy >= 0) return copy;
  return error == EBADF ? -EBADF : -EPERM;
}

// The mount on which an open file lies.
static long mount_of(int file) {
  char path[64], text[512];
  snprintf(path, sizeof path, "/proc/self/fdinfo/%d", file);
  return read_text(path, text, sizeof text) == 0 ? find_number(text, "mnt_id:") : -1;
}

static int path_of(int file, char path[PATH_MAX]) {
  char link[64];
  snprintf(link, sizeof link, "/proc/self/fd/%d", file);
  ssize_t count = readlink(link, path, PATH_MAX);
  if (count <= 0 || count >= PATH_MAX) return -1;
  path[count] = 0;
  return 0;
}

// Where in `path` the part below `directory` starts: "" for the directory itself, NULL for what lies elsewhere.
static const char *part_below(const char *directory, const char *path) {
  size_t count = strlen(directory);
  if (strncmp(path, directory, count) != 0) return NULL;
  if (path[count] != 0 && path[count] != '/') return NULL;
  path += count;
  while (*path == '/') path++;
  return path;
}

// Where an open file lies below the directory, as `part_below` gives it. The mount counts too: what lies on none, such as files of
// memory, has a name that its maker chose.
static int place_of(int file, int directory, char place[PATH_MAX]) {
  char own[PATH_MAX], path[PATH_MAX];
  long mount = mount_of(directory);
  if (mount < 0 || mount_of(file) != mount) return -1;
  if (path_of(directory, own) != 0 || path_of(file, path) != 0) return -1;
  const char *part = part_below(own, path);
  if (!part) return -1;
  memmove(place, part, strlen(part) + 1);
  return 0;
}

// Turns a path into one that starts at the private directory.
static int make_relative(const amk_change *change, pid_t thread, int directory, char path[2 * PATH_MAX]) {
  char place[PATH_MAX];
  if (change->path[0] == '/') {
    char own[PATH_MAX];
    const char *part = path_of(directory, own) == 0 ? part_below(own, change->path) : NULL;
    if (!part) return -EPERM;
    strcpy(path, part);
    return 0;
  }
  int base;
  if (change->descriptor == AT_FDCWD) {
    char current[64];
    snprintf(current, sizeof current, "/proc/%d/cwd", thread);
    base = open(current, O_PATH | O_DIRECTORY | O_CLOEXEC);
    if (base < 0) return -EPERM;
  } else {
    base = duplicate(thread, change->descriptor);
    if (base < 0) return base;
  }
  int found = place_of(base, directory, place);
  close(base);
  if (found != 0) return -EPERM;
  snprintf(path, 2 * PATH_MAX, "%s%s%s", place, place[0] ? "/" : "", change->path);
  return 0;
}

// Opens a path that leads to nothing outside at any of its steps.
static int open_below(int directory, const char *path, int follows) {
  struct open_how_ how = {
      .flags = O_PATH | O_CLOEXEC | (follows ? 0 : O_NOFOLLOW),
      .resolve = RESOLVE_NO_XDEV_ | RESOLVE_NO_MAGICLINKS_ | RESOLVE_BENEATH_,
  };
  for (int turn = 0; turn < LOOKUP_TURNS; turn++) {
    int file = (int)syscall(OPENAT2, directory, path, &how, sizeof how);
    if (file >= 0) return file;
    if (errno != EAGAIN && errno != EINTR) break;
  }
  switch (errno) {
    case ENOENT: case ENOTDIR: case EACCES: case ENAMETOOLONG: return -errno;
    default: return -EPERM;
  }
}

int amk_change_find(const amk_change *change, pid_t thread, int directory) {
  int file;
  if (change->has_path) {
    char path[2 * PATH_MAX];
    int result = make_relative(change, thread, directory, path);
    if (result != 0) return result;
    file = open_below(directory, path, change->follows);
  } else {
    file = duplicate(thread, change->descriptor);
  }
  if (file < 0) return file;
  char place[PATH_MAX];
  int result = 0;
  // The directory itself is the system's.
  if (place_of(file, directory, place) != 0 || place[0] == 0) {
    result = -EPERM;
  } else if (!change->has_path && !change->takes_path_only && (fcntl(file, F_GETFL) & O_PATH)) {
    result = -EBADF;
  }
  if (result == 0) return file;
  close(file);
  return result;
}
