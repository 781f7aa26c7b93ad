// System calls and constants that `import Glibc` does not show to Swift.
#pragma once
#include <stdint.h>
int starc_shims_version(void);
