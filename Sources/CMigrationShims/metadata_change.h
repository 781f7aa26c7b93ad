// What the two halves of the supervisor of metadata share: one asks for a change, the other finds the file.
#pragma once
#include <limits.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>
#include <time.h>

enum { AMK_ATTRIBUTE_NAME_CAPACITY = 256, AMK_ATTRIBUTE_VALUE_CAPACITY = 65536 };

typedef enum { AMK_CHANGE_MODE, AMK_CHANGE_OWNER, AMK_CHANGE_TIMES, AMK_SET_ATTRIBUTE, AMK_REMOVE_ATTRIBUTE } amk_change_kind;

// A change that was asked for. Nothing in it points into the asking process: what was read once does not change any more.
typedef struct {
  amk_change_kind kind;
  int descriptor;       // the file's, or that of the directory where `path` starts; AT_FDCWD: the current one
  int has_path;         // 0: `descriptor` is the file
  int takes_path_only;  // the file's descriptor may be an O_PATH one
  int follows;          // a symlink at the end of `path`
  char path[PATH_MAX];
  mode_t mode;
  uid_t user;
  gid_t group;
  int has_times;
  struct timespec times[2];
  char name[AMK_ATTRIBUTE_NAME_CAPACITY];
  size_t value_count;
  int flags;
  char value[AMK_ATTRIBUTE_VALUE_CAPACITY];
} amk_change;

// Gives a descriptor of the system's own for the file that a thread names, if that lies below `directory`; else the negated errno.
int amk_change_find(const amk_change *change, pid_t thread, int directory);
// Makes the change to a file that was found: 0 or the negated errno.
int amk_change_make(const amk_change *change, int file);
