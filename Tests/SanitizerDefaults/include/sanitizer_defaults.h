#ifndef SANITIZER_DEFAULTS_H
#define SANITIZER_DEFAULTS_H

/// Options of a program that is built with the address sanitizer; it calls this before main().
const char *__asan_default_options(void);

#endif
