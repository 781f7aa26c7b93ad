// What the launcher's files share. Nothing here is for Swift.
#pragma once
#include <linux/filter.h>
#include <stdint.h>

// Puts the calling process under the rules, for good; a system call only.
int64_t amk_landlock_restrict(int32_t ruleset);

enum { AMK_FILTER_CAPACITY = 1024 };
typedef struct {
  uint16_t count;
  struct sock_filter instructions[AMK_FILTER_CAPACITY];
} amk_filter;

// Writes the filter of system calls. -E2BIG when it is too long.
int64_t amk_filter_build(amk_filter *filter, int32_t denied);
// Installs it in the calling process; a system call only.
int64_t amk_filter_install(const amk_filter *filter);
