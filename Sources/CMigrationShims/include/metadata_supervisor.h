// Changes of metadata by an export, which its filter of system calls hands over to the system: it makes them itself, and only below
// the extension's private temporary directory.
#pragma once
#include <stdint.h>

// Whether this kernel has what that takes (Linux 5.6).
int32_t amk_supervision_is_available(void);

// Serves the calls of a process and of all that it starts until it ends, and returns then. `listener` is what `amk_launch` gave; it is
// closed in the end, whatever it is, so that no call waits for an answer that nobody gives. `process` comes from `amk_process_open`, `directory` is the private directory.
// The calling thread gives up, for good, the privileges that the extension does not have either.
void amk_supervise_metadata(int32_t listener, int32_t process, int32_t directory);
