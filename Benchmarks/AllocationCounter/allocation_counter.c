// Counts the allocations of the program that it is loaded into with LD_PRELOAD, and appends "COUNT BYTES" to the file
// that ALLOCATION_COUNTS names when the program exits. glibc only: it forwards to the names under which glibc keeps its
// own functions, so that nothing has to be looked up (which would allocate).
#define _GNU_SOURCE
#include "allocation_counter.h"
#include <errno.h>
#include <fcntl.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

extern void *__libc_malloc(size_t);
extern void *__libc_calloc(size_t, size_t);
extern void *__libc_realloc(void *, size_t);
extern void *__libc_memalign(size_t, size_t);

static atomic_ullong allocation_count, byte_count;

static void note(size_t bytes) {
  atomic_fetch_add_explicit(&allocation_count, 1, memory_order_relaxed);
  atomic_fetch_add_explicit(&byte_count, bytes, memory_order_relaxed);
}

void *malloc(size_t bytes) {
  note(bytes);
  return __libc_malloc(bytes);
}

void *calloc(size_t count, size_t bytes) {
  note(count * bytes);
  return __libc_calloc(count, bytes);
}

void *realloc(void *old, size_t bytes) {
  note(bytes);
  return __libc_realloc(old, bytes);
}

void *memalign(size_t alignment, size_t bytes) {
  note(bytes);
  return __libc_memalign(alignment, bytes);
}

void *aligned_alloc(size_t alignment, size_t bytes) { return memalign(alignment, bytes); }

int posix_memalign(void **result, size_t alignment, size_t bytes) {
  if (alignment < sizeof(void *) || (alignment & (alignment - 1))) return EINVAL;
  void *memory = memalign(alignment, bytes);
  if (!memory) return ENOMEM;
  *result = memory;
  return 0;
}

__attribute__((destructor)) static void tell(void) {
  const char *path = getenv("ALLOCATION_COUNTS");
  if (!path) return;
  unsigned long long count = atomic_load(&allocation_count), bytes = atomic_load(&byte_count);
  int file = open(path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0644);
  if (file < 0) return;
  dprintf(file, "%llu %llu\n", count, bytes);
  close(file);
}
