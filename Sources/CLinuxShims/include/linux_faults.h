// Fault injection for tests: the n-th of all calls with a given name fails. Compiled in with STARC_FAULTS (debug
// builds) only; without it arming reports 0 and no call looks at it.
//
// A debug build of a program can be told from outside: STARC_FAULT=write:17:ENOSPC arms a fault (write:-17:ENOSPC is
// the 17th and all later calls; kinds are names of errors, their numbers, or SHORT), and STARC_FAULT_COUNTS=FILE has
// the number of calls of every name written there when the run ends.
#pragma once
#include <stdint.h>

// Instead of an errno: a read or write that does half of what was asked for.
#define STARC_FAULT_SHORT (-1)

// Arms the fault. `call` is a C name such as "openat", or "*" for all calls. `nth` counts from 1; a negative `nth`
// makes every call from the (-nth)-th on fail. `kind` is an errno or STARC_FAULT_SHORT. With `kind` 0 calls are only
// counted. Returns 1, or 0 where fault injection is not compiled in.
int32_t starc_fault_arm(const char *_Nonnull call, int64_t nth, int32_t kind);
void starc_fault_disarm(void);
// How many matching calls were seen since arming.
int64_t starc_fault_calls(void);
// Whether the armed fault was delivered at least once.
int32_t starc_fault_fired(void);
// To be asked before a call: 0, an errno, or STARC_FAULT_SHORT. Also for allocations of other libraries.
int32_t starc_fault_point(const char *_Nonnull call);
