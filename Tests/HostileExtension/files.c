// Attempts on files: the container, which an export only reads, and what lies outside.
#define _GNU_SOURCE
#include "hostile.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <sys/file.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <sys/xattr.h>
#include <unistd.h>
#include <utime.h>

static const char *inside(const char *name) { return place("HOSTILE_CONTAINER", name); }
static const char *outside(const char *name) { return place("HOSTILE_OUTSIDE", name); }
static const char *own(const char *name) { return place("TMPDIR", name); }

static long try_open(const char *path, int flags) {
  int file = open(path, flags | O_CLOEXEC, 0600);
  if (file >= 0) close(file);
  return file;
}

static long try_read(const char *path) {
  char byte;
  int file = open(path, O_RDONLY | O_CLOEXEC);
  if (file < 0) return file;
  long count = read(file, &byte, 1);
  close(file);
  return count;
}

static long try_list(const char *path) {
  DIR *directory = opendir(path);
  if (!directory) return -1;
  closedir(directory);
  return 0;
}

void attack_files(void) {
  tell("allowed read container", try_read(inside("kept")));
  tell("allowed list container", try_list(inside(".")));
  tell("allowed write own", try_open(own("made"), O_WRONLY | O_CREAT));
  tell("allowed truncate own", truncate(own("made"), 0));
  tell("allowed rename own", rename(own("made"), own("moved")));
  tell("allowed read own facts", try_read("/proc/self/stat"));
  tell("allowed read random", try_read("/dev/urandom"));
  tell("allowed write null", try_open("/dev/null", O_WRONLY));
  tell("allowed read library", try_list("/usr/lib"));

  tell("write container", try_open(inside("kept"), O_WRONLY));
  tell("append container", try_open(inside("kept"), O_WRONLY | O_APPEND));
  tell("create in container", try_open(inside("made"), O_WRONLY | O_CREAT));
  tell("cut at opening", try_open(inside("cut"), O_RDONLY | O_TRUNC));
  tell("truncate", truncate(inside("truncated"), 1));
  tell("unlink", unlink(inside("unlinked")));
  tell("rename", rename(inside("renamed"), inside("renamed-2")));
  tell("rename out", rename(inside("renamed-out"), own("stolen")));
  tell("rename in", rename(own("moved"), inside("brought")));
  tell("link out", link(inside("kept"), own("linked")));
  tell("mkdir", mkdir(inside("directory"), 0700));
  tell("rmdir", rmdir(inside("empty")));
  tell("symlink", symlink("/", inside("symlink")));
  tell("mkfifo", mkfifo(inside("fifo"), 0600));
  tell("nameless file", try_open(inside("."), O_TMPFILE | O_WRONLY));
  tell("reopen for writing", ({
         int file = open(inside("kept"), O_RDONLY | O_CLOEXEC);
         char path[64];
         snprintf(path, sizeof path, "/proc/self/fd/%d", file);
         long result = try_open(path, O_WRONLY);
         close(file);
         result;
       }));

  tell("read secret", try_read(outside("secret")));
  tell("list outside", try_list(outside(".")));
  tell("read through symlink", ({
         unlink(own("way"));
         symlink(outside("secret"), own("way")) < 0 ? -1 : try_read(own("way"));
       }));
  tell("read through root", ({
         char path[4200];
         snprintf(path, sizeof path, "/proc/self/root%s", outside("secret"));
         try_read(path);
       }));
  tell("read other container", try_read(outside("other/data")));
  tell("write outside", try_open(outside("made"), O_WRONLY | O_CREAT));
  tell("list processes", try_list("/proc"));
  tell("list root", try_list("/"));
  tell("list temporary files", try_list("/tmp"));
}

void attack_metadata(void) {
  struct timespec times[2] = {{1, 0}, {1, 0}};
  struct timeval old_times[2] = {{1, 0}, {1, 0}};
  tell("chmod", chmod(inside("kept"), 0600));
  tell("chown", chown(inside("kept"), getuid(), getgid()));
  tell("lchown", lchown(inside("kept"), getuid(), getgid()));
  tell("fchmodat", fchmodat(AT_FDCWD, inside("kept"), 0600, 0));
  tell("utimensat", utimensat(AT_FDCWD, inside("kept"), times, 0));
  tell("utimes", utimes(inside("kept"), old_times));
  tell("utime", utime(inside("kept"), NULL));
  tell("setxattr", setxattr(inside("kept"), "user.hostile", "x", 1, 0));
  tell("lsetxattr", lsetxattr(inside("kept"), "user.hostile", "x", 1, 0));
  tell("removexattr", removexattr(inside("kept"), "user.there"));
  int file = open(inside("kept"), O_RDONLY | O_CLOEXEC);
  tell("fchmod", fchmod(file, 0600));
  tell("fchown", fchown(file, getuid(), getgid()));
  tell("futimens", futimens(file, times));
  tell("fsetxattr", fsetxattr(file, "user.hostile", "x", 1, 0));
  tell("fremovexattr", fremovexattr(file, "user.there-2"));
  int flags = 0x40;  // FS_NODUMP_FL
  tell("set flags", ioctl(file, 0x40086602UL, &flags));
  tell("fchmodat2", syscall(452, AT_FDCWD, inside("kept"), 0600, 0));
  struct {
    unsigned long value;
    unsigned size, flags;
  } attribute = {(unsigned long)"x", 1, 0};
  tell("setxattrat", syscall(463, AT_FDCWD, inside("kept"), 0, "user.hostile", &attribute, sizeof attribute));
  tell("chmod outside", chmod(outside("secret"), 0644));
  close(file);
}

void attack_import(void) {
  const char *staging = "HOSTILE_STAGING";
  tell("allowed write container", try_open(inside("made"), O_WRONLY | O_CREAT));
  tell("allowed chmod", chmod(inside("made"), 0600));
  tell("allowed utimensat", utimensat(AT_FDCWD, inside("made"), NULL, 0));
  tell("allowed move staging", rename(place(staging, "arrived"), inside("arrived")));
  tell("allowed move directory", rename(place(staging, "directory"), inside("directory")));
  tell("allowed link staging", link(place(staging, "linked"), inside("linked")));
  tell("allowed write group", try_open(place("HOSTILE_GROUP", "made"), O_WRONLY | O_CREAT));
  tell("allowed unlink", unlink(inside("unlinked")));
  tell("allowed atomic write", ({
         long result = try_open(own("atomic"), O_WRONLY | O_CREAT);
         result < 0 ? result : rename(own("atomic"), inside("atomic"));
       }));
  tell("move out", rename(inside("kept"), outside("stolen")));
  tell("move in", rename(outside("secret"), inside("secret")));
  tell("link in", link(outside("secret"), inside("secret")));
  tell("read secret", try_read(outside("secret")));
  tell("write outside", try_open(outside("made"), O_WRONLY | O_CREAT));
  tell("fifo", mkfifo(inside("fifo"), 0600));
  tell("device", mknod(inside("device"), S_IFCHR | 0600, 0x103));
  tell("replace container", rename(place("HOSTILE_CONTAINER", NULL), outside("container")));
}
