#define _GNU_SOURCE
#include "hostile.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <unistd.h>

enum { SYSTEM = 3 };

// Attempts before main() are told apart by this.
static const char *prefix = "";

void tell_value(const char *name, long value) {
  char line[256];
  int length = snprintf(line, sizeof line, "%s%s=%ld\n", prefix, name, value);
  int error = errno;
  // Without a system, to see that the attempts would succeed.
  if (send(SYSTEM, line, (size_t)length, MSG_NOSIGNAL) < 0 && write(1, line, (size_t)length) < 0) _exit(99);
  errno = error;
}

void tell(const char *name, long result) { tell_value(name, result < 0 ? errno : 0); }

const char *place(const char *variable, const char *name) {
  static _Thread_local char paths[4][4096];
  static _Thread_local int turn;
  char *path = paths[turn++ % 4];
  const char *base = getenv(variable);
  snprintf(path, sizeof paths[0], "%s%s%s", base ? base : "/missing", name ? "/" : "", name ? name : "");
  return path;
}

__attribute__((constructor)) static void before_main(void) {
  const char *action = getenv("HOSTILE_ACTION");
  if (!action || strcmp(action, "constructor") != 0) return;
  prefix = "early ";
  attack_files();
  attack_metadata();
  attack_processes();
  prefix = "";
}

static void name_oneself(const char *role) { tell_value(role, getpid()); }

// Much longer than a test waits, but not for ever: where the sandbox has a fault, nobody else would end it.
__attribute__((noreturn)) static void stay(void) {
  sleep(60);
  _exit(97);
}

// A process that its parent does not know of, as a daemon makes it.
static void fork_twice(void) {
  fflush(NULL);
  if (fork() != 0) return;
  tell("daemon setsid", setsid());
  if (fork() != 0) _exit(0);
  name_oneself("grandchild");
  stay();
}

static void ignore_signals(void) {
  for (int number = 1; number < 65; number++) signal(number, SIG_IGN);
}

int main(int count, char **arguments) {
  (void)count;
  const char *action = getenv("HOSTILE_ACTION");
  if (!action) action = "";
  int flags = fcntl(SYSTEM, F_GETFL);
  if (flags >= 0) fcntl(SYSTEM, F_SETFL, flags & ~O_NONBLOCK);

  if (strcmp(action, "attack") == 0 || strcmp(action, "harmless attack") == 0) {
    attack_descriptors();
    attack_files();
    attack_metadata();
    attack_processes();
    // Without a sandbox, root would change the machine with these.
    if (strcmp(action, "attack") == 0) attack_kernel();
  } else if (strcmp(action, "import") == 0) {
    attack_import();
  } else if (strcmp(action, "metadata") == 0) {
    attack_supervisor();
  } else if (strcmp(action, "race") == 0) {
    attack_race();
  } else if (strcmp(action, "flood") == 0) {
    attack_flood();
  } else if (strcmp(action, "facts") == 0) {
    int death = 0;
    prctl(PR_GET_PDEATHSIG, &death);
    tell_value("death signal", death);
    tell_value("no new privileges", prctl(PR_GET_NO_NEW_PRIVS, 0, 0, 0, 0));
    tell_value("own group", getpgrp() == getpid());
    struct sigaction handling;
    sigaction(SIGPIPE, NULL, &handling);
    tell_value("default SIGPIPE", handling.sa_handler == SIG_DFL);
    sigset_t blocked;
    sigprocmask(SIG_SETMASK, NULL, &blocked);
    tell_value("blocked SIGUSR1", sigismember(&blocked, SIGUSR1));
    char here[4096] = "";
    tell_value("in own directory", getcwd(here, sizeof here) && strcmp(here, place("TMPDIR", NULL)) == 0);
    tell_value("home is own", strcmp(place("HOME", NULL), place("TMPDIR", NULL)) == 0);
    tell_value("absolute name", arguments[0][0] == '/');
    tell_value("system's variable", getenv("SYSTEM_SECRET") != NULL);
  } else if (strcmp(action, "crash") == 0) {
    *(volatile int *)8 = 1;
  } else if (strcmp(action, "abort") == 0) {
    abort();
  } else if (strcmp(action, "exit") == 0) {
    return 7;
  } else if (strcmp(action, "stubborn") == 0) {
    ignore_signals();
    fork_twice();
    name_oneself("leader");
    stay();
  } else if (strcmp(action, "leave") == 0) {
    fork_twice();
    // Until the other one has told its number.
    char byte;
    if (recv(SYSTEM, &byte, 1, 0) < 0) return 98;
  } else if (strcmp(action, "spin") == 0) {
    name_oneself("leader");
    for (volatile unsigned long turn = 0;; turn++) {}
  } else if (strcmp(action, "wait") == 0) {
    attack_files();
    name_oneself("leader");
    char byte;
    if (recv(SYSTEM, &byte, 1, 0) < 0) return 98;
  }
  return 0;
}
