// Changes of metadata in an export: those below the private directory are made, all others are not, whatever changes meanwhile.
#define _GNU_SOURCE
#include "hostile.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <sys/xattr.h>
#include <time.h>
#include <unistd.h>

static const struct timespec times[2] = {{1, 0}, {1, 0}};

static const char *inside(const char *name) { return place("HOSTILE_CONTAINER", name); }
static const char *own(const char *name) { return place("TMPDIR", name); }

static int make(const char *name) { return open(own(name), O_RDWR | O_CREAT | O_CLOEXEC, 0600); }

static long mode_of(const char *path) {
  struct stat status;
  return lstat(path, &status) < 0 ? -1 : (long)(status.st_mode & 07777);
}

// 0 when something holds; else an errno that no call here gives.
static void expect(const char *name, int holds) {
  errno = ENOTUNIQ;
  tell(name, holds ? 0 : -1);
}

// All ways by a descriptor.
static void change(const char *name, int file) {
  char line[128];
#define TELL(what, call) (snprintf(line, sizeof line, "%s %s", name, what), tell(line, call))
  TELL("fchmod", fchmod(file, 0640));
  TELL("fchown", fchown(file, getuid(), getgid()));
  TELL("futimens", futimens(file, times));
  TELL("fsetxattr", fsetxattr(file, "user.hostile", "x", 1, 0));
  TELL("fremovexattr", fremovexattr(file, "user.hostile"));
  TELL("fchownat by descriptor", fchownat(file, "", getuid(), getgid(), AT_EMPTY_PATH));
#undef TELL
}

static void change_own(void) {
  int file = make("file");
  change("allowed own", file);
  close(file);
  file = open(own("file"), O_RDONLY | O_CLOEXEC);
  change("allowed own, open for reading,", file);
  expect("allowed mode by descriptor", mode_of(own("file")) == 0640);
  fchmod(file, 07755);
  expect("allowed mode without set-id", mode_of(own("file")) == 0755);
  tell("allowed chmod own", chmod(own("file"), 04604));
  expect("allowed mode by path", mode_of(own("file")) == 0604);
  tell("allowed chown own", chown(own("file"), getuid(), (gid_t)-1));
  tell("allowed utimensat own", utimensat(AT_FDCWD, own("file"), times, 0));
  struct stat status;
  fstat(file, &status);
  expect("allowed time by path", status.st_mtim.tv_sec == 1);
  tell("allowed set to the present", utimensat(AT_FDCWD, own("file"), NULL, 0));
  fstat(file, &status);
  expect("allowed present time", status.st_mtim.tv_sec > 1000);
  char value[8] = "";
  tell("allowed setxattr own", setxattr(own("file"), "user.own", "value", 5, 0));
  expect("allowed attribute", getxattr(own("file"), "user.own", value, sizeof value) == 5 && !strcmp(value, "value"));
  tell("allowed removexattr own", removexattr(own("file"), "user.own"));
  symlink("file", own("link"));
  tell("allowed chmod through link", chmod(own("link"), 0600));
  tell("allowed lchown link", lchown(own("link"), getuid(), getgid()));
  tell("allowed times of link", utimensat(AT_FDCWD, own("link"), times, AT_SYMLINK_NOFOLLOW));
  lstat(own("link"), &status);
  expect("allowed time of the link itself", status.st_mtim.tv_sec == 1);
  mkdir(own("directory"), 0700);
  int directory = open(own("directory"), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  tell("allowed chmod relative", fchmodat(directory, "../file", 0622, 0));
  expect("allowed mode relative", mode_of(own("file")) == 0622);
  chdir(own("directory"));
  tell("allowed chmod from here", chmod("../file", 0611));
  expect("allowed mode from here", mode_of(own("file")) == 0611);
  chdir(own("."));
  unlink(own("file"));
  tell("allowed fchmod without name", fchmod(file, 0600));
  close(directory);
  close(file);
}

static void change_others(void) {
  int file = open(inside("kept"), O_RDONLY | O_CLOEXEC), path = open(inside("kept"), O_PATH | O_CLOEXEC);
  change("container", file);
  change("container O_PATH", path);
  // A copy in the test's own directory. Never a file of the machine: where the sandbox has a fault, root would really change it.
  int program = open("/proc/self/exe", O_RDONLY | O_CLOEXEC);
  change("executable", program);
  change("executable O_PATH", open("/proc/self/exe", O_PATH | O_CLOEXEC));
  int directory = open(own("."), O_RDONLY | O_CLOEXEC), container = open(inside("."), O_RDONLY | O_CLOEXEC);
  change("private directory itself", directory);
  change("container itself", container);
  int memory = (int)syscall(SYS_memfd_create, own("memory"), 0U);
  tell("fchmod memory", fchmod(memory, 0600));
  int ends[2];
  tell("fchmod pipe", pipe(ends) < 0 ? 0 : fchmod(ends[0], 0600));
  tell("fchmod nothing", fchmod(-1, 0600));
  tell("fchmod O_PATH own", ({
         close(make("own"));
         fchmod(open(own("own"), O_PATH | O_CLOEXEC), 0600);
       }));
  symlink(inside("kept"), own("out"));
  tell("chmod through link out", chmod(own("out"), 0600));
  symlink(inside("."), own("way-out"));
  tell("chmod through directory out", chmod(own("way-out/kept"), 0600));
  tell("lchown through directory out", lchown(own("way-out/kept"), getuid(), getgid()));
  char text[4300];
  snprintf(text, sizeof text, "%s/../../../../../../../../../..%s", own("."), inside("kept"));
  tell("chmod with dots", chmod(text, 0600));
  snprintf(text, sizeof text, "../../../../../../../../../..%s", inside("kept"));
  tell("chmod with relative dots", fchmodat(directory, text, 0600, 0));
  snprintf(text, sizeof text, "/proc/self/fd/%d", file);
  tell("chmod by /proc", chmod(text, 0600));
  symlink(text, own("magic"));
  tell("chmod through link to /proc", chmod(own("magic"), 0600));
  tell("chmod from container", fchmodat(container, "kept", 0600, 0));
  tell("chmod at no address", syscall(SYS_fchmodat, AT_FDCWD, (char *)8, 0600));
  memset(text, 'x', sizeof text);
  text[sizeof text - 1] = 0;
  tell("chmod of a long path", fchmodat(directory, text, 0600, 0));
  int mine = open(own("own"), O_RDWR | O_CLOEXEC);
  tell("security attribute", fsetxattr(mine, "security.hostile", "x", 1, 0));
  tell("trusted attribute", fsetxattr(mine, "trusted.x", "x", 1, 0));
  tell("access list", fsetxattr(mine, "system.posix_acl_access", "x", 1, 0));
  tell("huge attribute", fsetxattr(mine, "user.x", text, ~0UL >> 1, 0));
  tell("attribute at no address", fsetxattr(mine, "user.x", (char *)8, 100, 0));
  tell("long attribute name", fsetxattr(mine, text, "x", 1, 0));
  tell("link from container", link(inside("kept"), own("hard")));
  tell("link from container by descriptor", ({
         snprintf(text, sizeof text, "/proc/self/fd/%d", file);
         linkat(AT_FDCWD, text, AT_FDCWD, own("hard-2"), AT_SYMLINK_FOLLOW);
       }));
  tell("move from container", rename(inside("kept"), own("hard")));
  tell("exchange with container", renameat2(AT_FDCWD, inside("kept"), AT_FDCWD, own("own"), RENAME_EXCHANGE));
}

static void *grandchild_thread(void *argument) {
  tell("allowed fchmod of a thread", fchmod(*(int *)argument, 0604));
  return NULL;
}

void attack_supervisor(void) {
  change_own();
  change_others();
  int file = make("shared");
  pthread_t thread;
  pthread_create(&thread, NULL, grandchild_thread, &file);
  pthread_join(thread, NULL);
  pid_t child = fork();
  if (child == 0) {
    tell("allowed fchmod of a child", fchmod(file, 0606));
    tell("chmod of a child", chmod(inside("kept"), 0606));
    _exit(0);
  }
  waitpid(child, NULL, 0);
  expect("allowed mode of a child", mode_of(own("shared")) == 0606);
}

// What the threads of a race swap, and on what they agree.
static struct {
  int target, own_file, others;
  char path[4096], paths[2][4096];
  atomic_int is_over;
} race;

static void *swap(void *unused) {
  (void)unused;
  for (unsigned turn = 0; !race.is_over; turn++) {
    dup2(turn % 2 ? race.own_file : race.others, race.target);
    // Of equal length, so that only a part differs at any time.
    memcpy(race.path, race.paths[turn % 2], sizeof race.path);
    // A directory on the way is now the private one, now a link that leads into the container.
    renameat2(AT_FDCWD, own("way"), AT_FDCWD, own("way-out"), RENAME_EXCHANGE);
  }
  return NULL;
}

static double now(void) {
  struct timespec time;
  clock_gettime(CLOCK_MONOTONIC, &time);
  return (double)time.tv_sec + 1e-9 * (double)time.tv_nsec;
}

void attack_race(void) {
  race.own_file = make("kept");
  race.others = open(inside("kept"), O_RDONLY | O_CLOEXEC);
  race.target = dup(race.own_file);
  mkdir(own("way"), 0700);
  close(make("way/kept"));
  symlink(inside("."), own("way-out"));
  snprintf(race.paths[0], sizeof race.paths[0], "%s", own("kept"));
  snprintf(race.paths[1], sizeof race.paths[1], "%s", inside("kept"));
  memcpy(race.path, race.paths[0], sizeof race.path);
  char way[4096];
  snprintf(way, sizeof way, "%s", own("way/kept"));
  pthread_t thread;
  pthread_create(&thread, NULL, swap, NULL);
  long counts[4][2] = {{0}};
  for (double end = now() + 1; now() < end;) {
    counts[0][fchmod(race.target, 0666) == 0]++;
    counts[1][chmod(race.path, 0666) == 0]++;
    counts[2][chmod(way, 0666) == 0]++;
    counts[3][futimens(race.target, times) == 0 && fsetxattr(race.target, "user.raced", "x", 1, 0) == 0]++;
  }
  race.is_over = 1;
  pthread_join(thread, NULL);
  static const char *const names[] = {"descriptor", "memory", "directory", "descriptor with more"};
  for (int index = 0; index < 4; index++) {
    char line[64];
    snprintf(line, sizeof line, "%s made", names[index]);
    tell_value(line, counts[index][1]);
    snprintf(line, sizeof line, "%s refused", names[index]);
    tell_value(line, counts[index][0]);
  }
}

static void *flood(void *argument) {
  int file = *(int *)argument;
  for (;;) {
    fchmod(file, 0666);
    chmod(inside("kept"), 0666);
  }
  return NULL;
}

// Never ends by itself: many threads and processes ask at once.
__attribute__((noreturn)) void attack_flood(void) {
  int file = open(inside("kept"), O_RDONLY | O_CLOEXEC);
  for (int index = 0; index < 4; index++) {
    if (fork() == 0) break;
  }
  pthread_t threads[16];
  for (int index = 0; index < 16; index++) pthread_create(&threads[index], NULL, flood, &file);
  int mine = make("mine");
  for (int turn = 0; turn < 100; turn++) {
    if (fchmod(mine, 0600) != 0) tell("flooded", -1);
  }
  tell_value("leader", getpid());
  sleep(60);
  _exit(97);
}
