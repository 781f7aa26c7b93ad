#ifndef ALLOCATION_COUNTER_H
#define ALLOCATION_COUNTER_H
// Nothing is called by name: the library is loaded in front of a program with LD_PRELOAD.
#endif
