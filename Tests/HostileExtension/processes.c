// Attempts on other processes, on the kernel's ways around the sandbox, and on what was inherited.
#define _GNU_SOURCE
#include "hostile.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/keyctl.h>
#include <mqueue.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/file.h>
#include <sys/inotify.h>
#include <sys/ioctl.h>
#include <sys/ipc.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/ptrace.h>
#include <sys/resource.h>
#include <sys/shm.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

// Runs an attempt in a child, which may do what a leader of a group cannot; gives its errno.
static long in_child(long (*attempt)(void)) {
  pid_t child = fork();
  if (child < 0) return -1;
  if (child == 0) _exit(attempt() < 0 ? errno : 0);
  int status = 0;
  waitpid(child, &status, 0);
  errno = WIFEXITED(status) ? WEXITSTATUS(status) : ECHILD;
  return errno == 0 ? 0 : -1;
}

static long new_session(void) { return setsid(); }
static long new_group(void) { return setpgid(0, 0); }
static long new_names(void) { return unshare(CLONE_NEWUSER); }

static long open_fact(const char *name) {
  char path[64];
  snprintf(path, sizeof path, "/proc/%d/%s", getppid(), name);
  int file = open(path, O_RDONLY | O_CLOEXEC);
  if (file >= 0) close(file);
  return file;
}

void attack_processes(void) {
  pid_t parent = getppid();
  char byte = 0;
  struct iovec here = {&byte, 1}, there = {&byte, 1};
  struct rlimit limit;
  cpu_set_t cores;
  getrlimit(RLIMIT_NOFILE, &limit);
  sched_getaffinity(parent, sizeof cores, &cores);
  tell("signal parent", kill(parent, 0));
  tell("signal everybody", kill(-1, 0) == 0 && kill(parent, 0) == 0 ? 0 : -1);
  tell("memory of parent", open_fact("mem"));
  tell("variables of parent", open_fact("environ"));
  tell("descriptors of parent", open_fact("fd"));
  tell("read parent's memory", process_vm_readv(parent, &here, 1, &there, 1, 0));
  tell("limits of parent", syscall(SYS_prlimit64, parent, RLIMIT_NOFILE, &limit, NULL));
  tell("cores of parent", sched_setaffinity(parent, sizeof cores, &cores));
  tell("priority of parent", setpriority(PRIO_PROCESS, (id_t)parent, getpriority(PRIO_PROCESS, (id_t)parent)));
  tell("new session", in_child(new_session));
  tell("new group", in_child(new_group));
  tell("survive parent", prctl(PR_SET_PDEATHSIG, 0));
  tell("trace parent", ptrace(PTRACE_SEIZE, parent, NULL, NULL));
  tell("hide", prctl(PR_SET_DUMPABLE, 0));
}

static long enter_names(void) {
  // Flags in a register.
  long child = syscall(SYS_clone, CLONE_NEWUSER | SIGCHLD, NULL, NULL, NULL, NULL);
  if (child == 0) _exit(0);
  if (child > 0) waitpid((pid_t)child, NULL, 0);
  return child;
}

void attack_kernel(void) {
  tell("unshare", in_child(new_names));
  tell("clone", enter_names());
  char arguments[88] = {0};
  tell("clone3", ({
         *(unsigned long *)arguments = CLONE_NEWUSER;
         long child = syscall(435, arguments, sizeof arguments);
         if (child == 0) _exit(0);
         child;
       }));
  char parameters[120] = {0};
  tell("io_uring", syscall(425, 4, parameters));
  tell("bpf", syscall(SYS_bpf, 0, parameters, 48));
  tell("mount", mount("none", place("TMPDIR", NULL), "tmpfs", 0, NULL));
  tell("chroot", chroot(place("TMPDIR", NULL)));
  tell("keys", syscall(SYS_keyctl, KEYCTL_GET_KEYRING_ID, KEY_SPEC_USER_KEYRING, 1));
  tell("shared memory", shmget(IPC_PRIVATE, 4096, IPC_CREAT | 0600));
  tell("watch", inotify_add_watch(inotify_init1(IN_CLOEXEC), place("HOSTILE_OUTSIDE", NULL), IN_ALL_EVENTS));
  char handle[128 + 8] = {128};
  tell("open by handle", syscall(SYS_open_by_handle_at, AT_FDCWD, handle, O_RDONLY));
  tell("steal descriptor", syscall(438, syscall(434, getppid(), 0), 0, 0));
#ifdef __x86_64__
  // The same calls under other numbers.
  tell("x32 chmod", syscall(0x40000000 + SYS_chmod, place("HOSTILE_CONTAINER", "kept"), 0600));
#endif
  tell("unix socket", socket(AF_UNIX, SOCK_STREAM, 0));
  tell("internet socket", socket(AF_INET, SOCK_STREAM, 0));
  int pair[2];
  tell("datagram pair", socketpair(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0, pair));
  tell("allowed stream pair", socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, pair));
}

void attack_descriptors(void) {
  long open_count = 0;
  for (int number = 5; number < 1024; number++) open_count += fcntl(number, F_GETFD) >= 0;
  tell_value("further descriptors", open_count);
  tell("type into terminal", syscall(SYS_ioctl, 2, 0x5412, "x"));
  struct stat status;
  if (fstat(4, &status) != 0) return;
  tell("unlock", flock(4, LOCK_UN));
  tell("share lock", flock(4, LOCK_SH));
  int copy = dup(4);
  tell("unlock copy", flock(copy, LOCK_UN));
  int nothing = open("/dev/null", O_RDONLY | O_CLOEXEC);
  tell("close lock", close(4));
  tell("replace lock", dup3(nothing, 4, 0));
  tell("replace lock in the old way", dup2(nothing, 4));
  tell("close all", syscall(436, 3, ~0U, 0));
  tell("close lock alone", syscall(436, 4, 4, 0));
  tell("close lock at execution", fcntl(4, F_SETFD, FD_CLOEXEC));
  tell("close lock at execution by control", ioctl(4, 0x5451));
  tell("close all at execution", syscall(436, 0, ~0U, 4));
  tell("allowed close those behind", syscall(436, 1000, ~0U, 0));
  tell("allowed close those before", syscall(436, 0, 0, 0));
  tell("allowed close at execution", fcntl(copy, F_SETFD, FD_CLOEXEC));
  tell("allowed replace others", dup2(copy, nothing));
  close(nothing);
  tell("allowed keep lock", flock(4, LOCK_EX | LOCK_NB));
  close(copy);
}
