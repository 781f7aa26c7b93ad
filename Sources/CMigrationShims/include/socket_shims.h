// Messages with descriptors over a socket, in one form: a value of at least zero, or the negated errno.
#pragma once
#include <stdint.h>
#include <stddef.h>

// The most bytes of one message.
#define AMK_MESSAGE_BYTE_COUNT (160 << 10)

// A connected pair of packet sockets, close-on-exec, non-blocking.
int64_t amk_socket_pair(int32_t ends[_Nonnull 2]);
// Sends one packet, with `descriptor` unless it is -1. -EAGAIN when the socket is full. Never raises SIGPIPE.
int64_t amk_send(int32_t socket, const void *_Nonnull bytes, size_t byte_count, int32_t descriptor);
// Receives one packet and at most one descriptor (close-on-exec; -1 when none came). 0 when the other side is gone,
// -EAGAIN when nothing is there, -EBADMSG for a packet that is too long or that came with more than one descriptor (which are closed).
int64_t amk_receive(int32_t socket, void *_Nonnull bytes, size_t capacity, int32_t *_Nonnull descriptor);
// Waits until `descriptor` is ready for reading (`writing` 0) or writing (1), or `wake` (-1: none) can be read: a sum of 1 and 2; 0 when the
// time is over. A negative time waits without end.
int64_t amk_poll(int32_t descriptor, int32_t writing, int32_t wake, int32_t milliseconds);

// What a received descriptor is good for: 1 a regular file, 2 a directory, both open for reading and on a real file system;
// else one of the reasons below.
#define AMK_DESCRIPTOR_KIND (-1)      // neither a file nor a directory
#define AMK_DESCRIPTOR_PATH_ONLY (-2) // opened with O_PATH: whoever sent it may not be allowed to read it
#define AMK_DESCRIPTOR_WRITE_ONLY (-3)
#define AMK_DESCRIPTOR_PSEUDO (-4)    // on proc, sysfs or the like, where a file is not data
#define AMK_DESCRIPTOR_FAILED (-5)
int32_t amk_judge_descriptor(int32_t descriptor);
