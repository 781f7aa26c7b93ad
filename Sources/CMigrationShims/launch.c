// Fork and exec with a sandbox between them. What runs in the child before it executes the program consists of system
// calls alone, made without the C library's wrappers: other threads of the parent may have held any lock at the fork,
// and sanitizers put locks into the wrappers.
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <linux/capability.h>
#include <sched.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "launch.h"
#include "launch_parts.h"

enum { PIDFD_OPEN = 434, CLOSE_RANGE = 436, PIDFD_GETFD = 438, KERNEL_SIGNAL_SET_SIZE = 8, LAST_SIGNAL = 64 };

// Where the descriptors of the program lie, and behind them those that only the start needs.
enum { TO_NULL, TO_OUTPUT, TO_ERRORS, TO_SOCKET = AMK_SOCKET_DESCRIPTOR, TO_LOCK = AMK_LOCK_DESCRIPTOR, TO_REPORT, TO_RULESET, TO_DIRECTORY, TO_GATE, TO_LISTENER, DESCRIPTOR_COUNT };

const char *amk_step_name(int32_t step) {
  static const char *const names[AMK_STEP_COUNT] = {
      "the preparation", "the fork", "the process group", "the tie to the parent", "the signals", "the descriptors",
      "the limits", "the current directory", "the capabilities", "no new privileges", "Landlock", "seccomp",
      "the permission to go on", "the execution of the program",
  };
  return step >= 0 && step < AMK_STEP_COUNT ? names[step] : "an unknown step";
}

typedef struct {
  int32_t step, error;
} report;

__attribute__((noreturn)) static void fail(int descriptor, int32_t step, int32_t error) {
  report failure = {step, error};
  syscall(SYS_write, descriptor, &failure, sizeof failure);
  for (;;) syscall(SYS_exit_group, 127);
}

// All signals get their default handling, then none is blocked any more.
static int reset_signals(void) {
  // A zeroed `struct sigaction` of the kernel, whatever its layout: default handler, no flags, nothing masked.
  uint64_t action[8] = {0}, none = 0;
  for (int number = 1; number <= LAST_SIGNAL; number++) {
    if (number == SIGKILL || number == SIGSTOP) continue;
    if (syscall(SYS_rt_sigaction, number, action, NULL, KERNEL_SIGNAL_SET_SIZE) != 0) return -errno;
  }
  return syscall(SYS_rt_sigprocmask, SIG_SETMASK, &none, NULL, KERNEL_SIGNAL_SET_SIZE) != 0 ? -errno : 0;
}

static int close_from(unsigned first) {
  if (syscall(CLOSE_RANGE, first, ~0U, 0) == 0) return 0;
  if (errno != ENOSYS) return -errno;
  struct rlimit limit;
  if (syscall(SYS_prlimit64, 0, RLIMIT_NOFILE, NULL, &limit) != 0) return -errno;
  for (rlim_t number = first; number < limit.rlim_cur; number++) syscall(SYS_close, (int)number);
  return 0;
}

// Puts every descriptor in its place and closes all others. `descriptors` is indexed by place; -1 leaves it closed.
static int place_descriptors(int descriptors[DESCRIPTOR_COUNT]) {
  // First all of them out of the way: one may lie where another belongs.
  for (int place = 0; place < DESCRIPTOR_COUNT; place++) {
    if (descriptors[place] < 0) continue;
    int copy = (int)syscall(SYS_fcntl, descriptors[place], F_DUPFD_CLOEXEC, DESCRIPTOR_COUNT);
    if (copy < 0) return -errno;
    descriptors[place] = copy;
  }
  for (int place = 0; place < DESCRIPTOR_COUNT; place++) {
    if (descriptors[place] < 0) {
      syscall(SYS_close, place);
    } else if (syscall(SYS_dup3, descriptors[place], place, place >= TO_REPORT ? O_CLOEXEC : 0) < 0) {
      return -errno;
    }
    descriptors[place] = descriptors[place] < 0 ? -1 : place;
  }
  return close_from(DESCRIPTOR_COUNT);
}

int amk_keep_capabilities(uint32_t kept) {
  struct __user_cap_header_struct header = {.version = _LINUX_CAPABILITY_VERSION_3};
  struct __user_cap_data_struct data[2] = {{0}};
  if (syscall(SYS_capget, &header, data) != 0) return -errno;
  for (int word = 0; word < 2; word++) {
    data[word].permitted &= word == 0 ? kept : 0;
    data[word].effective &= data[word].permitted;
    data[word].inheritable = 0;
  }
  return syscall(SYS_capset, &header, data) != 0 ? -errno : 0;
}

// The process's own files in /proc, whose number is known only now.
static int allow_own_facts(const amk_launch_plan *plan) {
  int own = (int)syscall(SYS_openat, AT_FDCWD, "/proc/self", O_PATH | O_DIRECTORY | O_CLOEXEC, 0);
  if (own < 0) return errno == ENOENT ? 0 : -errno;
  int64_t result = amk_landlock_allow(TO_RULESET, plan->landlock_abi, own, 1, AMK_READ);
  syscall(SYS_close, own);
  return (int)result;
}

static int is_supervised(const amk_launch_plan *plan) {
  return plan->uses_seccomp && (plan->denied & AMK_DENY_METADATA) && (plan->denied & AMK_SUPERVISE_METADATA);
}

// Installs the filter, and tells the parent when it can take the listener, which ends here with the execution.
static int install_filter(const amk_launch_plan *plan, const amk_filter *filter) {
  int64_t listener = amk_filter_install(filter, is_supervised(plan));
  if (listener < 0 || !is_supervised(plan)) return (int)listener;
  if (listener != TO_LISTENER) {
    if (syscall(SYS_dup3, (int)listener, TO_LISTENER, O_CLOEXEC) < 0) return -errno;
    syscall(SYS_close, (int)listener);
  }
  report installed = {AMK_STEP_SECCOMP, 0};
  return syscall(SYS_write, TO_REPORT, &installed, sizeof installed) == sizeof installed ? 0 : -EPIPE;
}

// Takes the listener out of a child that waits for the permission.
static int take_listener(pid_t child) {
  int handle = (int)syscall(PIDFD_OPEN, child, 0);
  if (handle < 0) return -1;
  int listener = (int)syscall(PIDFD_GETFD, handle, TO_LISTENER, 0);
  close(handle);
  return listener;
}

__attribute__((noreturn)) static void run_child(
    const amk_launch_plan *plan, const amk_filter *filter, pid_t parent, int descriptors[DESCRIPTOR_COUNT]) {
  int out = descriptors[TO_REPORT], result;
  if (syscall(SYS_setpgid, 0, 0) != 0) fail(out, AMK_STEP_GROUP, errno);

  if (syscall(SYS_prctl, PR_SET_PDEATHSIG, SIGKILL, 0, 0, 0) != 0) fail(out, AMK_STEP_PARENT, errno);
  // It may have ended before.
  if (syscall(SYS_getppid) != parent) fail(out, AMK_STEP_PARENT, ESRCH);

  if ((result = reset_signals()) != 0) fail(out, AMK_STEP_SIGNALS, -result);
  if ((result = place_descriptors(descriptors)) != 0) fail(out, AMK_STEP_DESCRIPTORS, -result);
  out = TO_REPORT;

  struct rlimit none = {0, 0};
  if (syscall(SYS_prlimit64, 0, RLIMIT_CORE, &none, NULL) != 0) fail(out, AMK_STEP_LIMITS, errno);
  if (syscall(SYS_fchdir, TO_DIRECTORY) != 0) fail(out, AMK_STEP_DIRECTORY, errno);
  if ((result = amk_keep_capabilities(AMK_EXTENSION_CAPABILITIES)) != 0) fail(out, AMK_STEP_CAPABILITIES, -result);
  if (syscall(SYS_prctl, PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0) fail(out, AMK_STEP_PRIVILEGES, errno);
  if (plan->ruleset >= 0) {
    if ((result = allow_own_facts(plan)) != 0) fail(out, AMK_STEP_LANDLOCK, -result);
    if ((result = (int)amk_landlock_restrict(TO_RULESET)) != 0) fail(out, AMK_STEP_LANDLOCK, -result);
  }
  if (plan->uses_seccomp && (result = install_filter(plan, filter)) != 0) fail(out, AMK_STEP_SECCOMP, -result);
  // Nothing of the program runs before the parent has noted this process where it survives a crash.
  char permission;
  if (syscall(SYS_read, TO_GATE, &permission, 1) != 1) fail(out, AMK_STEP_PERMISSION, ECANCELED);
  syscall(SYS_execve, plan->executable, plan->arguments, plan->environment);
  fail(out, AMK_STEP_EXECUTE, errno);
}

// Reads what the child reports; nothing when it executes the program.
static int read_report(int descriptor, report *failure) {
  ssize_t count;
  do count = read(descriptor, failure, sizeof *failure);
  while (count < 0 && errno == EINTR);
  return count == sizeof *failure;
}

static int64_t fork_child(
    const amk_launch_plan *plan, const amk_filter *filter, int descriptors[DESCRIPTOR_COUNT]) {
  pid_t parent = getpid();
  // No handler of the parent may run in the child.
  sigset_t all, before;
  sigfillset(&all);
  pthread_sigmask(SIG_SETMASK, &all, &before);
  // Not fork(): its handlers take locks, which the child would have to release.
  long child = syscall(SYS_clone, SIGCHLD, NULL, NULL, NULL, NULL);
  int error = errno;
  if (child == 0) run_child(plan, filter, parent, descriptors);
  pthread_sigmask(SIG_SETMASK, &before, NULL);
  return child < 0 ? -error : child;
}

// Writes a byte to a pipe without raising SIGPIPE.
static int amk_write_byte(int descriptor) {
  sigset_t pipe_signal, before, pending;
  sigemptyset(&pipe_signal);
  sigaddset(&pipe_signal, SIGPIPE);
  sigpending(&pending);
  int was_pending = sigismember(&pending, SIGPIPE);
  pthread_sigmask(SIG_BLOCK, &pipe_signal, &before);
  ssize_t count;
  do count = write(descriptor, "x", 1);
  while (count < 0 && errno == EINTR);
  if (count != 1 && !was_pending) {
    struct timespec at_once = {0, 0};
    sigtimedwait(&pipe_signal, NULL, &at_once);
  }
  pthread_sigmask(SIG_SETMASK, &before, NULL);
  return count == 1 ? 0 : -1;
}

int64_t amk_launch(const amk_launch_plan *plan, int32_t *failed_step, int32_t *listener) {
  *failed_step = AMK_STEP_PREPARE;
  *listener = -1;
  amk_filter *filter = malloc(sizeof *filter);
  if (!filter) return -ENOMEM;
  int64_t result = amk_filter_build(filter, plan->denied);
  int reports[2] = {-1, -1}, gate[2] = {-1, -1}, nothing = -1;
  if (result == 0 && pipe2(reports, O_CLOEXEC) != 0) result = -errno;
  if (result == 0 && pipe2(gate, O_CLOEXEC) != 0) result = -errno;
  if (result == 0 && (nothing = open("/dev/null", O_RDWR | O_CLOEXEC)) < 0) result = -errno;
  if (result == 0) {
    // A system without standard error gives its extension none either.
    int errors = fcntl(2, F_GETFD) < 0 ? nothing : 2;
    int descriptors[DESCRIPTOR_COUNT] = {
        nothing, errors, errors, plan->socket, plan->lock, reports[1], plan->ruleset, plan->directory, gate[0], -1,
    };
    *failed_step = AMK_STEP_FORK;
    result = fork_child(plan, filter, descriptors);
  }
  if (reports[1] >= 0) close(reports[1]);
  if (gate[0] >= 0) close(gate[0]);
  report failure;
  int has_failed = 0;
  if (result > 0 && is_supervised(plan)) {
    has_failed = read_report(reports[0], &failure) && failure.error != 0;
    if (!has_failed) *listener = take_listener((pid_t)result);
  }
  if (result > 0 && !has_failed && plan->forked(plan->context, (int32_t)result) == 0) {
    // The other end may be gone: what the child has to say of that is read below.
    if (amk_write_byte(gate[1]) != 0) *failed_step = AMK_STEP_PERMISSION;
  }
  if (gate[1] >= 0) close(gate[1]);
  if (result > 0 && (has_failed || read_report(reports[0], &failure))) {
    waitpid((pid_t)result, NULL, 0);
    *failed_step = failure.step;
    result = failure.error > 0 ? -failure.error : -EIO;
    if (*listener >= 0) close(*listener);
    *listener = -1;
  }
  if (reports[0] >= 0) close(reports[0]);
  if (nothing >= 0) close(nothing);
  free(filter);
  return result;
}
