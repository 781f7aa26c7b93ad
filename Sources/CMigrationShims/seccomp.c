// The filter of system calls of an extension. It refuses (EPERM) what Landlock does not cover; everything else is allowed, so that
// it bounds what an extension reaches, not what it uses. Written out by hand: no library is needed, and the list can be read.
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <linux/audit.h>
#include <linux/seccomp.h>
#include <sched.h>
#include <stddef.h>
#include <sys/file.h>
#include <sys/ioctl.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "launch.h"
#include "launch_parts.h"
#include "seccomp_lists.h"

#if defined(__x86_64__)
#define ARCHITECTURE AUDIT_ARCH_X86_64
#elif defined(__aarch64__)
#define ARCHITECTURE AUDIT_ARCH_AARCH64
#else
#error "the filter of system calls knows x86-64 and aarch64"
#endif

// Flags of a filter (SECCOMP_FILTER_FLAG_…), of which older headers lack one.
enum { NEW_LISTENER = 1 << 3, WAIT_KILLABLE = 1 << 5 };

#define COUNT(array) (sizeof(array) / sizeof(array)[0])

static void emit(amk_filter *filter, uint16_t code, uint32_t value, uint8_t if_true, uint8_t if_false) {
  if (filter->count < AMK_FILTER_CAPACITY)
    filter->instructions[filter->count] =
        (struct sock_filter){.code = code, .jt = if_true, .jf = if_false, .k = value};
  filter->count++;
}

static void load(amk_filter *filter, uint32_t offset) { emit(filter, BPF_LD | BPF_W | BPF_ABS, offset, 0, 0); }

static void answer(amk_filter *filter, uint32_t action) { emit(filter, BPF_RET | BPF_K, action, 0, 0); }

static void refuse(amk_filter *filter, uint32_t error) { answer(filter, SECCOMP_RET_ERRNO | error); }

static void load_number(amk_filter *filter) { load(filter, offsetof(struct seccomp_data, nr)); }

// The lower half of an argument: all that the kernel takes of an `int`. Both architectures are little-endian.
static void load_argument(amk_filter *filter, int index) {
  load(filter, (uint32_t)(offsetof(struct seccomp_data, args) + 8U * (unsigned)index));
}

static void answer_all(amk_filter *filter, const int *numbers, size_t count, uint32_t action) {
  for (size_t index = 0; index < count; index++) {
    emit(filter, BPF_JMP | BPF_JEQ | BPF_K, (uint32_t)numbers[index], 0, 1);
    answer(filter, action);
  }
}

// Around the rules for one call's arguments: `begin` skips them for other calls, `end` allows what no rule refused.
static uint16_t begin_call(amk_filter *filter, int number) {
  emit(filter, BPF_JMP | BPF_JEQ | BPF_K, (uint32_t)number, 0, 0);
  return (uint16_t)(filter->count - 1);
}

static void end_call(amk_filter *filter, uint16_t start) {
  answer(filter, SECCOMP_RET_ALLOW);
  if (start < AMK_FILTER_CAPACITY) filter->instructions[start].jf = (uint8_t)(filter->count - start - 1);
}

static void refuse_if_equal(amk_filter *filter, uint32_t value) {
  emit(filter, BPF_JMP | BPF_JEQ | BPF_K, value, 0, 1);
  refuse(filter, EPERM);
}

static void refuse_unless_equal(amk_filter *filter, uint32_t value) {
  emit(filter, BPF_JMP | BPF_JEQ | BPF_K, value, 1, 0);
  refuse(filter, EPERM);
}

static void refuse_if_any(amk_filter *filter, uint32_t bits) {
  emit(filter, BPF_JMP | BPF_JSET | BPF_K, bits, 0, 1);
  refuse(filter, EPERM);
}

// Calls that name another process by number: only 0, the caller itself, is left.
static void only_self(amk_filter *filter, int number, int argument) {
  uint16_t call = begin_call(filter, number);
  load_argument(filter, argument);
  refuse_unless_equal(filter, 0);
  end_call(filter, call);
}

static void filter_others(amk_filter *filter) {
  only_self(filter, SYS_prlimit64, 0);
  only_self(filter, SYS_sched_setaffinity, 0);
  only_self(filter, SYS_sched_setscheduler, 0);
  only_self(filter, SYS_sched_setparam, 0);
  only_self(filter, SYS_sched_setattr, 0);
  for (int turn = 0; turn < 2; turn++) {
    // (kind, who): of a user or a group 0 stands for all processes of the caller's.
    uint16_t call = begin_call(filter, turn == 0 ? SYS_setpriority : SYS_ioprio_set);
    load_argument(filter, 0);
    refuse_unless_equal(filter, turn == 0 ? PRIO_PROCESS : IOPRIO_WHO_PROCESS_);
    load_argument(filter, 1);
    refuse_unless_equal(filter, 0);
    end_call(filter, call);
  }
}

static void filter_processes(amk_filter *filter) {
  uint16_t call = begin_call(filter, SYS_prctl);
  load_argument(filter, 0);
  refuse_if_equal(filter, PR_SET_PDEATHSIG);
  // The files of a process that cannot be dumped are root's: an orphan would not be found by its lock.
  refuse_if_equal(filter, PR_SET_DUMPABLE);
  end_call(filter, call);

  call = begin_call(filter, SYS_clone);
  load_argument(filter, 0);
  refuse_if_any(filter, NAMESPACE_FLAGS);
  end_call(filter, call);

  // Its flags lie in memory, which a filter cannot read. The C library falls back on `clone`.
  call = begin_call(filter, SYS_clone3_);
  refuse(filter, ENOSYS);
  end_call(filter, call);
}

static void filter_sockets(amk_filter *filter) {
  // Pairs are connected for good, except those of datagrams, which can be sent to any address.
  uint16_t call = begin_call(filter, SYS_socketpair);
  load_argument(filter, 1);
  emit(filter, BPF_ALU | BPF_AND | BPF_K, 0xF, 0, 0);
  refuse_if_equal(filter, SOCK_DGRAM);
  refuse_if_equal(filter, SOCK_RAW);
  end_call(filter, call);
}

static void filter_controls(amk_filter *filter, int32_t denied) {
  // Controls of terminals, disks and file systems differ by driver and do not ask whether a file is open for writing:
  // a list of those to allow is the only complete one.
  uint16_t call = begin_call(filter, SYS_ioctl);
  if (denied & AMK_DENY_LOCK_RELEASE) {
    // None on the lock: one would close it at the next execution.
    load_argument(filter, 0);
    refuse_if_equal(filter, AMK_LOCK_DESCRIPTOR);
  }
  load_argument(filter, 1);
  size_t count = COUNT(allowed_controls) + (denied & AMK_DENY_METADATA ? 0 : COUNT(metadata_controls));
  for (size_t index = 0; index < count; index++) {
    uint32_t control = index < COUNT(allowed_controls) ? allowed_controls[index]
                                                       : metadata_controls[index - COUNT(allowed_controls)];
    emit(filter, BPF_JMP | BPF_JEQ | BPF_K, control, 0, 1);
    answer(filter, SECCOMP_RET_ALLOW);
  }
  refuse(filter, EPERM);
  end_call(filter, call);

  call = begin_call(filter, SYS_fcntl);
  load_argument(filter, 1);
  for (size_t index = 0; index < COUNT(denied_commands); index++) refuse_if_equal(filter, denied_commands[index]);
  if (denied & AMK_DENY_LOCK_RELEASE) {
    // Close-on-exec can be set on all descriptors but the lock.
    emit(filter, BPF_JMP | BPF_JEQ | BPF_K, F_SETFD, 1, 0);
    answer(filter, SECCOMP_RET_ALLOW);
    load_argument(filter, 0);
    refuse_if_equal(filter, AMK_LOCK_DESCRIPTOR);
  }
  end_call(filter, call);
}

// The inherited lock is the system's own: to unlock or to share it would do so for the system. And a process that closes it could
// outlive the system unseen, since orphans are found by the lock.
static void filter_lock(amk_filter *filter) {
  uint16_t call = begin_call(filter, SYS_flock);
  load_argument(filter, 1);
  emit(filter, BPF_ALU | BPF_AND | BPF_K, (uint32_t)~LOCK_NB, 0, 0);
  refuse_unless_equal(filter, LOCK_EX);
  end_call(filter, call);

  call = begin_call(filter, SYS_close);
  load_argument(filter, 0);
  refuse_if_equal(filter, AMK_LOCK_DESCRIPTOR);
  end_call(filter, call);

  static const int replacing[] = {
#ifdef __x86_64__
      SYS_dup2,
#endif
      SYS_dup3,
  };
  for (size_t index = 0; index < COUNT(replacing); index++) {
    call = begin_call(filter, replacing[index]);
    load_argument(filter, 1);
    refuse_if_equal(filter, AMK_LOCK_DESCRIPTOR);
    end_call(filter, call);
  }

  // (first, last): allowed when all of them lie behind the lock, or before it.
  call = begin_call(filter, SYS_close_range_);
  load_argument(filter, 0);
  emit(filter, BPF_JMP | BPF_JGT | BPF_K, AMK_LOCK_DESCRIPTOR, 3, 0);
  load_argument(filter, 1);
  emit(filter, BPF_JMP | BPF_JGE | BPF_K, AMK_LOCK_DESCRIPTOR, 0, 1);
  refuse(filter, EPERM);
  end_call(filter, call);
}

int64_t amk_filter_build(amk_filter *filter, int32_t denied) {
  filter->count = 0;
  load(filter, offsetof(struct seccomp_data, arch));
  emit(filter, BPF_JMP | BPF_JEQ | BPF_K, ARCHITECTURE, 1, 0);
  // The numbers of another architecture mean other calls.
  answer(filter, SECCOMP_RET_KILL_PROCESS);
  load_number(filter);
#if defined(__x86_64__)
  // The x32 numbers of the same calls, all but the -1 that a tracer uses.
  emit(filter, BPF_JMP | BPF_JGE | BPF_K, 0x40000000, 0, 1);
  refuse(filter, EPERM);
#endif
  answer_all(filter, always_denied, COUNT(always_denied), SECCOMP_RET_ERRNO | EPERM);
  if (denied & AMK_DENY_METADATA) {
    answer_all(filter, metadata_calls, COUNT(metadata_calls), SECCOMP_RET_ERRNO | EPERM);
    answer_all(
        filter, supervised_calls, COUNT(supervised_calls),
        denied & AMK_SUPERVISE_METADATA ? SECCOMP_RET_USER_NOTIF : SECCOMP_RET_ERRNO | EPERM);
  }
  filter_processes(filter);
  filter_others(filter);
  filter_sockets(filter);
  filter_controls(filter, denied);
  if (denied & AMK_DENY_LOCK_RELEASE) filter_lock(filter);
  answer(filter, SECCOMP_RET_ALLOW);
  return filter->count <= AMK_FILTER_CAPACITY ? 0 : -E2BIG;
}

int64_t amk_filter_install(const amk_filter *filter, int32_t has_listener) {
  struct sock_fprog program = {.len = filter->count, .filter = (struct sock_filter *)filter->instructions};
  if (!has_listener) return syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, 0, &program) != 0 ? -errno : 0;
  // From Linux 5.19 on no signal but a deadly one interrupts a call that is being served.
  long listener = syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, NEW_LISTENER | WAIT_KILLABLE, &program);
  if (listener < 0 && errno == EINVAL) listener = syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, NEW_LISTENER, &program);
  return listener < 0 ? -errno : listener;
}

int32_t amk_seccomp_is_available(void) {
  uint32_t action = SECCOMP_RET_ERRNO;
  return syscall(SYS_seccomp, SECCOMP_GET_ACTION_AVAIL, 0, &action) == 0;
}
