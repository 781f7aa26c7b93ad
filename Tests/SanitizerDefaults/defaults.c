#include "sanitizer_defaults.h"

// An extension cannot look for leaks when it ends: its sandbox has neither /proc nor ptrace, and takes options of its surroundings away.
const char *__asan_default_options(void) { return "detect_leaks=0"; }
