// Starting a process in a sandbox, and ending it. Every function returns a value of at least zero, or the negated errno.
#pragma once
#include <stddef.h>
#include <stdint.h>

// What a file or directory (with all below it) may be used for; a sum.
enum {
  AMK_READ = 1,     // open files for reading, list directories
  AMK_EXECUTE = 2,  // execute files
  AMK_WRITE = 4,    // write, make and remove files, directories and symlinks; move and link within one directory
  AMK_MOVE = 8,     // move and link into and out of here
  AMK_OPEN = 16,    // open files for reading whose names are known
};

// The version of Landlock of this kernel; 0 where there is none.
int32_t amk_landlock_abi(void);
// A set of rules (close-on-exec) that allows nothing yet, of all rights that version `abi` knows.
int64_t amk_landlock_create(int32_t abi);
// Allows `rights` for what `object` refers to. Of files only the rights that files have are taken.
int64_t amk_landlock_allow(int32_t ruleset, int32_t abi, int32_t object, int32_t is_directory, int32_t rights);

// Whether filters of system calls can be installed.
int32_t amk_seccomp_is_available(void);
// What a filter is to refuse besides what it always refuses.
enum {
  AMK_DENY_METADATA = 1,     // changes of modes, owners, times, attributes and flags of files
  AMK_DENY_LOCK_RELEASE = 2, // giving back a lock that is shared with the system, and closing it
  // With AMK_DENY_METADATA and Landlock: most of these changes are handed over to the system, see metadata_supervisor.h.
  AMK_SUPERVISE_METADATA = 4,
};

// The descriptors of an extension.
enum { AMK_SOCKET_DESCRIPTOR = 3, AMK_LOCK_DESCRIPTOR = 4 };

// What to start, and how.
typedef struct {
  const char *_Nonnull executable;                      // absolute path
  const char *_Nullable const *_Nonnull arguments;      // ended by NULL
  const char *_Nullable const *_Nonnull environment;    // ended by NULL
  int32_t directory;                                    // becomes the current directory
  int32_t socket;                                       // becomes AMK_SOCKET_DESCRIPTOR
  int32_t lock;                                         // becomes AMK_LOCK_DESCRIPTOR; -1: none
  int32_t ruleset;                                      // of Landlock; -1: none
  int32_t landlock_abi;                                 // version of `ruleset`
  int32_t uses_seccomp;                                 // 0 where the kernel has none
  int32_t denied;                                       // sum of AMK_DENY_…
  // Called by the calling thread when the process exists and before it executes the program; other than 0 ends it instead.
  int32_t (*_Nonnull forked)(const void *_Nullable context, int32_t process);
  const void *_Nullable context;
} amk_launch_plan;

// The steps of a start, in their order.
enum {
  AMK_STEP_PREPARE = 0, AMK_STEP_FORK, AMK_STEP_GROUP, AMK_STEP_PARENT, AMK_STEP_SIGNALS, AMK_STEP_DESCRIPTORS,
  AMK_STEP_LIMITS, AMK_STEP_DIRECTORY, AMK_STEP_CAPABILITIES, AMK_STEP_PRIVILEGES, AMK_STEP_LANDLOCK, AMK_STEP_SECCOMP,
  AMK_STEP_PERMISSION, AMK_STEP_EXECUTE, AMK_STEP_COUNT,
};

// A step in words, for messages.
const char *_Nonnull amk_step_name(int32_t step);

// Starts a process and returns its number once it executes the program. On failure the step that failed is stored,
// and no process is left. The process is killed when the calling *thread* ends. With AMK_SUPERVISE_METADATA a descriptor
// (close-on-exec) for the supervisor is stored, -1 where the system may not have it: then the calls fail.
int64_t amk_launch(const amk_launch_plan *_Nonnull plan, int32_t *_Nonnull failed_step, int32_t *_Nonnull listener);

// A descriptor (close-on-exec) that can be read when the process has ended.
int64_t amk_process_open(int32_t process);
// SIGKILL to the process behind such a descriptor.
int64_t amk_process_kill(int32_t descriptor);
// Waits for the end of a child, which stays a zombie: its number is not given to another process.
int64_t amk_process_wait(int32_t process);
// Takes the status of a child that has ended: the exit code, or 256 and the number of the signal.
int64_t amk_process_reap(int32_t process);
// SIGKILL to a process group.
int64_t amk_group_kill(int32_t group);
// Whether there is a process in the group, perhaps a zombie.
int32_t amk_group_exists(int32_t group);
// Clock ticks a second in the files of /proc.
int64_t amk_clock_ticks(void);
// The names in the directory `path` (below `directory`) that are numbers: how many there are, of which at most
// `capacity` are stored.
int64_t amk_list_numbers(int32_t directory, const char *_Nonnull path, int32_t *_Nonnull numbers, size_t capacity);
