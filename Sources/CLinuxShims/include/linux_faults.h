// Fault injection for tests: the n-th of all calls with a given name fails. Compiled in with STARC_FAULTS (debug
// builds) only; without it arming reports 0 and no call looks at it.
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
