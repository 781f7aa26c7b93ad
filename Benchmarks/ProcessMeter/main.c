// Runs one pipeline of programs and writes down what it cost.
//
// It is a program of its own because the kernel starts the peak memory of a new program at that of the process that
// made it: behind a large parent every small program would look large. This one takes about a megabyte.
//
// Usage: process-meter REPORT OUTPUT ERRORS PRELOAD COUNTS {COUNT ARGUMENT...}...
//   REPORT   the file for the result: "wall NANOSECONDS", then for each stage
//            "stage STATUS USER_US SYSTEM_US PEAK_KIB READS WRITES" (-1: not to be had)
//   OUTPUT   the file for the last stage's standard output
//   ERRORS   the file for the standard error of all stages
//   PRELOAD  a library that the stages load first, or ""; COUNTS is then its environment variable ALLOCATION_COUNTS
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { maximum_stage_count = 8 };

struct stage {
  char **arguments;
  pid_t process;
  int status;
  long user_us, system_us, peak_kib;
  long long reads, writes;
  // Its /proc/PID/io, opened while it lives: that of a process that has ended can be opened by root alone.
  int account;
};

static int64_t now_ns(void) {
  struct timespec time;
  clock_gettime(CLOCK_MONOTONIC, &time);
  return time.tv_sec * INT64_C(1000000000) + time.tv_nsec;
}

static void fail(const char *what) {
  fprintf(stderr, "process-meter: %s: %s\n", what, strerror(errno));
  exit(125);
}

static int open_output(const char *path) {
  int file = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644);
  if (file < 0) fail(path);
  return file;
}

static void run_stage(const struct stage *stage, int input, int output, int errors, const char *preload,
                      const char *counts) {
  // Without a parent that waits for it a program would go on for nobody.
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  if (dup2(input, 0) < 0 || dup2(output, 1) < 0 || dup2(errors, 2) < 0) _exit(125);
  if (*preload) {
    setenv("ALLOCATION_COUNTS", counts, 1);
    setenv("LD_PRELOAD", preload, 1);
  }
  execvp(stage->arguments[0], stage->arguments);
  dprintf(2, "%s: %s\n", stage->arguments[0], strerror(errno));
  _exit(127);
}

static int open_account(pid_t process) {
  char path[64];
  snprintf(path, sizeof path, "/proc/%d/io", (int)process);
  return open(path, O_RDONLY | O_CLOEXEC);
}

// The calls of a process that has ended and was not yet waited for; those of its own children are in it.
static void read_calls(struct stage *stage) {
  char line[128];
  FILE *file = stage->account < 0 ? NULL : fdopen(stage->account, "r");
  if (!file) return;
  while (fgets(line, sizeof line, file)) {
    sscanf(line, "syscr: %lld", &stage->reads);
    sscanf(line, "syscw: %lld", &stage->writes);
  }
  fclose(file);
}

static int64_t wait_for_all(struct stage *stages, int count) {
  int64_t end = 0;
  for (int left = count; left > 0; left--) {
    siginfo_t info = {0};
    while (waitid(P_ALL, 0, &info, WEXITED | WNOWAIT) < 0)
      if (errno != EINTR) fail("waitid");
    end = now_ns();
    for (int index = 0; index < count; index++) {
      struct stage *stage = &stages[index];
      if (stage->process != info.si_pid) continue;
      struct rusage usage;
      read_calls(stage);
      if (wait4(stage->process, &stage->status, 0, &usage) < 0) fail("wait4");
      stage->user_us = usage.ru_utime.tv_sec * 1000000L + usage.ru_utime.tv_usec;
      stage->system_us = usage.ru_stime.tv_sec * 1000000L + usage.ru_stime.tv_usec;
      stage->peak_kib = usage.ru_maxrss;
    }
  }
  return end;
}

int main(int argc, char **argv) {
  if (argc < 8) {
    fputs("usage: process-meter REPORT OUTPUT ERRORS PRELOAD COUNTS {COUNT ARGUMENT...}...\n", stderr);
    return 64;
  }
  struct stage stages[maximum_stage_count];
  int count = 0;
  // argv ends with NULL; the count in front of each stage becomes the end of the one before.
  for (int index = 6; index < argc; count++) {
    int length = atoi(argv[index]);
    if (count == maximum_stage_count || length < 1 || length > argc - index - 1) return 64;
    argv[index] = NULL;
    stages[count] = (struct stage){.arguments = &argv[index + 1], .reads = -1, .writes = -1};
    index += length + 1;
  }
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  sigset_t none;
  sigemptyset(&none);
  sigprocmask(SIG_SETMASK, &none, NULL);
  signal(SIGPIPE, SIG_DFL);
  signal(SIGXFSZ, SIG_DFL);

  int report = open_output(argv[1]), output = open_output(argv[2]), errors = open_output(argv[3]);
  int input = open("/dev/null", O_RDONLY | O_CLOEXEC);
  if (input < 0) fail("/dev/null");
  int64_t start = now_ns();
  for (int index = 0; index < count; index++) {
    int ends[2] = {-1, output};
    if (index < count - 1 && pipe2(ends, O_CLOEXEC) < 0) fail("pipe2");
    pid_t process = fork();
    if (process < 0) fail("fork");
    if (process == 0) run_stage(&stages[index], input, ends[1], errors, argv[4], argv[5]);
    stages[index].process = process;
    stages[index].account = open_account(process);
    close(input);
    if (index < count - 1) close(ends[1]);
    input = ends[0];
  }
  int64_t end = wait_for_all(stages, count);
  dprintf(report, "wall %lld\n", (long long)(end - start));
  for (int index = 0; index < count; index++) {
    struct stage *stage = &stages[index];
    int status = WIFEXITED(stage->status) ? WEXITSTATUS(stage->status) : 128 + WTERMSIG(stage->status);
    dprintf(report, "stage %d %ld %ld %ld %lld %lld\n", status, stage->user_us, stage->system_us, stage->peak_kib,
            stage->reads, stage->writes);
  }
  return 0;
}
