#define _GNU_SOURCE
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "launch.h"

enum { PIDFD_SEND_SIGNAL = 424, PIDFD_OPEN = 434 };

int64_t amk_process_open(int32_t process) {
  long descriptor = syscall(PIDFD_OPEN, process, 0);
  return descriptor < 0 ? -errno : descriptor;
}

int64_t amk_process_kill(int32_t descriptor) {
  return syscall(PIDFD_SEND_SIGNAL, descriptor, SIGKILL, NULL, 0) < 0 ? -errno : 0;
}

int64_t amk_process_wait(int32_t process) {
  siginfo_t info;
  int result;
  do result = waitid(P_PID, (id_t)process, &info, WEXITED | WNOWAIT);
  while (result != 0 && errno == EINTR);
  return result != 0 ? -errno : 0;
}

int64_t amk_process_reap(int32_t process) {
  int status;
  pid_t result;
  do result = waitpid(process, &status, 0);
  while (result < 0 && errno == EINTR);
  if (result < 0) return -errno;
  return WIFSIGNALED(status) ? 256 + WTERMSIG(status) : WEXITSTATUS(status);
}

int64_t amk_group_kill(int32_t group) {
  // Zero and one would be one's own group and everybody.
  if (group <= 1) return -EINVAL;
  return kill(-group, SIGKILL) != 0 ? -errno : 0;
}

int32_t amk_group_exists(int32_t group) { return group > 1 && (kill(-group, 0) == 0 || errno == EPERM); }

int64_t amk_clock_ticks(void) { return sysconf(_SC_CLK_TCK); }

int64_t amk_list_numbers(int32_t directory, const char *path, int32_t *numbers, size_t capacity) {
  int descriptor = openat(directory, path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (descriptor < 0) return -errno;
  DIR *stream = fdopendir(descriptor);
  if (!stream) {
    int error = errno;
    close(descriptor);
    return -error;
  }
  int64_t count = 0;
  for (struct dirent *entry; (entry = readdir(stream));) {
    char *end;
    long number = strtol(entry->d_name, &end, 10);
    if (*end != 0 || end == entry->d_name || number < 0 || number > INT32_MAX) continue;
    if ((size_t)count < capacity) numbers[count] = (int32_t)number;
    count++;
  }
  closedir(stream);
  return count;
}
