// What a wrapper asks before its call: 0, an errno, or STARC_FAULT_SHORT. Without STARC_FAULTS nothing is left of it.
#pragma once
#include "linux_faults.h"

#ifdef STARC_FAULTS
#define FAULT_POINT(NAME) starc_fault_point(NAME)
#else
#define FAULT_POINT(NAME) 0
#endif
