// The advanced parameters (stable buffers, static contexts) are outside zstd's stable section.
// All that is used of them has been there since 1.4.4 and is checked for at run time.
#pragma once
#define ZSTD_STATIC_LINKING_ONLY
#define ZSTD_DISABLE_DEPRECATE_WARNINGS
#include <zstd.h>
#include <zstd_errors.h>
