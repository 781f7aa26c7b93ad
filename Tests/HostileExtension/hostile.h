// An extension that tries to do what it must not. It tells what came of each attempt: 0 for success, else the errno.
#pragma once

// Tells the result of an attempt. `result` is that of a system call: below zero, `errno` counts.
void tell(const char *name, long result);
void tell_value(const char *name, long value);

// What lies in the directory that a variable of the environment names; the variable alone when `name` is NULL.
const char *place(const char *variable, const char *name);

void attack_files(void);
void attack_metadata(void);
void attack_processes(void);
void attack_kernel(void);
void attack_descriptors(void);
void attack_import(void);
void attack_supervisor(void);
void attack_race(void);
__attribute__((noreturn)) void attack_flood(void);
