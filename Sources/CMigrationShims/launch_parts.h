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
// Installs it in the calling process; system calls only. With `has_listener` the result is the descriptor (close-on-exec) by which
// calls are handed over.
int64_t amk_filter_install(const amk_filter *filter, int32_t has_listener);

// Of root's privileges those that reading and writing another user's container takes.
#define AMK_EXTENSION_CAPABILITIES (1U << CAP_CHOWN | 1U << CAP_DAC_OVERRIDE | 1U << CAP_DAC_READ_SEARCH | 1U << CAP_FOWNER)
// Drops all privileges of the calling thread but these; system calls only.
int amk_keep_capabilities(uint32_t kept);
