#include "linux_shims.h"
int starc_shims_version(void) { return 1; }
