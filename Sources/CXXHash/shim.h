// XXH3 through the functions that choose AVX2 or AVX-512 at run time: the plain ones of a distribution's
// library are compiled for SSE2 and are several times slower.
#pragma once
#include <xxhash.h>
#if defined(__x86_64__)
#define XXH_DISPATCH_DISABLE_REPLACE
#include <xxh_x86dispatch.h>
static inline XXH64_hash_t starc_xxh3_64(const void *bytes, size_t byte_count) {
  return XXH3_64bits_dispatch(bytes, byte_count);
}
static inline XXH128_hash_t starc_xxh3_128(const void *bytes, size_t byte_count) {
  return XXH3_128bits_dispatch(bytes, byte_count);
}
static inline XXH_errorcode starc_xxh3_64_update(XXH3_state_t *state, const void *bytes, size_t byte_count) {
  return XXH3_64bits_update_dispatch(state, bytes, byte_count);
}
static inline XXH_errorcode starc_xxh3_128_update(XXH3_state_t *state, const void *bytes, size_t byte_count) {
  return XXH3_128bits_update_dispatch(state, bytes, byte_count);
}
#else
static inline XXH64_hash_t starc_xxh3_64(const void *bytes, size_t byte_count) {
  return XXH3_64bits(bytes, byte_count);
}
static inline XXH128_hash_t starc_xxh3_128(const void *bytes, size_t byte_count) {
  return XXH3_128bits(bytes, byte_count);
}
static inline XXH_errorcode starc_xxh3_64_update(XXH3_state_t *state, const void *bytes, size_t byte_count) {
  return XXH3_64bits_update(state, bytes, byte_count);
}
static inline XXH_errorcode starc_xxh3_128_update(XXH3_state_t *state, const void *bytes, size_t byte_count) {
  return XXH3_128bits_update(state, bytes, byte_count);
}
#endif
