#define _GNU_SOURCE
#include "linux_faults.h"

#ifdef STARC_FAULTS

#include <errno.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static char armed_call[64];
static atomic_int armed_kind;
static atomic_int armed;  // 0: nothing to do, the only thing that an ordinary call looks at
static atomic_llong armed_nth;
static atomic_llong calls;
static atomic_int fired;
static pthread_once_t environment_once = PTHREAD_ONCE_INIT;

static int32_t kind_named(const char *name) {
  static const struct { const char *name; int32_t kind; } kinds[] = {
      {"SHORT", STARC_FAULT_SHORT}, {"EINTR", EINTR},   {"EIO", EIO},       {"ENOSPC", ENOSPC}, {"EDQUOT", EDQUOT},
      {"EMFILE", EMFILE},           {"ENFILE", ENFILE}, {"ENOMEM", ENOMEM}, {"EACCES", EACCES}, {"EPERM", EPERM},
      {"EPIPE", EPIPE},             {"EROFS", EROFS},   {"ENOENT", ENOENT}, {"EFBIG", EFBIG},   {"EAGAIN", EAGAIN},
      {"EOPNOTSUPP", EOPNOTSUPP},   {"EINVAL", EINVAL}, {"ENOSYS", ENOSYS}, {"EEXIST", EEXIST}, {"ELOOP", ELOOP},
  };
  for (size_t i = 0; i < sizeof kinds / sizeof kinds[0]; i++)
    if (strcmp(kinds[i].name, name) == 0) return kinds[i].kind;
  return atoi(name);
}

static void arm(const char *call, int64_t nth, int32_t kind) {
  atomic_store(&armed, 0);
  strncpy(armed_call, call, sizeof armed_call - 1);
  atomic_store(&armed_kind, kind);
  atomic_store(&armed_nth, nth);
  atomic_store(&calls, 0);
  atomic_store(&fired, 0);
  atomic_store(&armed, 1);
}

// The calls of a whole run by their names, for the file that STARC_FAULT_COUNTS names.
static struct {
  const char *name;
  long long count;
} counted[64];
static size_t counted_names;
static pthread_mutex_t counting = PTHREAD_MUTEX_INITIALIZER;
static atomic_int is_counting;
static const char *counts_path;

static void count_call(const char *call) {
  pthread_mutex_lock(&counting);
  size_t i = 0;
  while (i < counted_names && strcmp(counted[i].name, call) != 0) i++;
  if (i == counted_names && i < sizeof counted / sizeof counted[0]) {
    const char *copy = strdup(call);
    if (copy != NULL) counted[counted_names++].name = copy;
  }
  if (i < counted_names) counted[i].count++;
  pthread_mutex_unlock(&counting);
}

// One line for every name, and "fired" with 1 if the fault was delivered. At the end of a run that ends by itself.
static void write_counts(void) {
  FILE *file = fopen(counts_path, "we");
  if (file == NULL) return;
  pthread_mutex_lock(&counting);
  for (size_t i = 0; i < counted_names; i++) fprintf(file, "%s %lld\n", counted[i].name, counted[i].count);
  pthread_mutex_unlock(&counting);
  fprintf(file, "fired %d\n", atomic_load(&fired));
  fclose(file);
}

// STARC_FAULT="write:17:ENOSPC", or "write:-17:ENOSPC" for the 17th and all later ones.
static void arm_from_environment(void) {
  counts_path = getenv("STARC_FAULT_COUNTS");
  if (counts_path != NULL && atexit(write_counts) == 0) atomic_store(&is_counting, 1);
  const char *text = getenv("STARC_FAULT");
  if (text == NULL) return;
  char copy[128];
  if (strlen(text) >= sizeof copy) return;
  strcpy(copy, text);
  char *state = NULL;
  char *call = strtok_r(copy, ":", &state);
  char *nth = call ? strtok_r(NULL, ":", &state) : NULL;
  char *kind = nth ? strtok_r(NULL, ":", &state) : NULL;
  if (kind != NULL && strlen(call) < sizeof armed_call) arm(call, atoll(nth), kind_named(kind));
}

int32_t starc_fault_arm(const char *call, int64_t nth, int32_t kind) {
  pthread_once(&environment_once, arm_from_environment);
  arm(call, nth, kind);
  return 1;
}

void starc_fault_disarm(void) { atomic_store(&armed, 0); }
int64_t starc_fault_calls(void) { return atomic_load(&calls); }
int32_t starc_fault_fired(void) { return atomic_load(&fired); }

int32_t starc_fault_point(const char *call) {
  pthread_once(&environment_once, arm_from_environment);
  if (atomic_load_explicit(&is_counting, memory_order_relaxed)) count_call(call);
  if (atomic_load_explicit(&armed, memory_order_acquire) == 0) return 0;
  if (armed_call[0] != '*' && strcmp(armed_call, call) != 0) return 0;
  int64_t number = atomic_fetch_add(&calls, 1) + 1;
  int32_t kind = atomic_load(&armed_kind);
  int64_t nth = atomic_load(&armed_nth);
  if (kind == 0 || !(nth < 0 ? number >= -nth : number == nth)) return 0;
  atomic_store(&fired, 1);
  return kind;
}

#else

int32_t starc_fault_arm(const char *call, int64_t nth, int32_t kind) {
  (void)call, (void)nth, (void)kind;
  return 0;
}
void starc_fault_disarm(void) {}
int64_t starc_fault_calls(void) { return 0; }
int32_t starc_fault_fired(void) { return 0; }
int32_t starc_fault_point(const char *call) {
  (void)call;
  return 0;
}

#endif
