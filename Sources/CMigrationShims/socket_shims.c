#define _GNU_SOURCE
#include "socket_shims.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/vfs.h>
#include <unistd.h>

int64_t amk_socket_pair(int32_t ends[2]) {
  int pair[2];
  if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC | SOCK_NONBLOCK, 0, pair) != 0) return -errno;
  ends[0] = pair[0];
  ends[1] = pair[1];
  return 0;
}

int64_t amk_send(int32_t socket, const void *bytes, size_t byte_count, int32_t descriptor) {
  struct iovec piece = {.iov_base = (void *)bytes, .iov_len = byte_count};
  union {
    struct cmsghdr header;
    char space[CMSG_SPACE(sizeof(int))];
  } control;
  struct msghdr message = {.msg_iov = &piece, .msg_iovlen = 1};
  if (descriptor >= 0) {
    memset(&control, 0, sizeof control);
    message.msg_control = control.space;
    message.msg_controllen = sizeof control.space;
    struct cmsghdr *header = CMSG_FIRSTHDR(&message);
    header->cmsg_level = SOL_SOCKET;
    header->cmsg_type = SCM_RIGHTS;
    header->cmsg_len = CMSG_LEN(sizeof(int));
    memcpy(CMSG_DATA(header), &descriptor, sizeof(int));
  }
  ssize_t count;
  do count = sendmsg(socket, &message, MSG_NOSIGNAL);
  while (count < 0 && errno == EINTR);
  return count < 0 ? -errno : count;
}

int64_t amk_receive(int32_t socket, void *bytes, size_t capacity, int32_t *descriptor) {
  // Room for two, so that a second one is seen and closed rather than cut off unseen.
  union {
    struct cmsghdr header;
    char space[CMSG_SPACE(2 * sizeof(int))];
  } control;
  struct iovec piece = {.iov_base = bytes, .iov_len = capacity};
  struct msghdr message = {
      .msg_iov = &piece, .msg_iovlen = 1, .msg_control = control.space, .msg_controllen = sizeof control.space};
  *descriptor = -1;
  ssize_t count;
  do count = recvmsg(socket, &message, MSG_CMSG_CLOEXEC);
  while (count < 0 && errno == EINTR);
  if (count < 0) return -errno;
  int is_bad = (message.msg_flags & (MSG_TRUNC | MSG_CTRUNC)) != 0;
  for (struct cmsghdr *header = CMSG_FIRSTHDR(&message); header; header = CMSG_NXTHDR(&message, header)) {
    if (header->cmsg_level != SOL_SOCKET || header->cmsg_type != SCM_RIGHTS) continue;
    size_t number = (header->cmsg_len - CMSG_LEN(0)) / sizeof(int);
    for (size_t index = 0; index < number; index++) {
      int received;
      memcpy(&received, CMSG_DATA(header) + index * sizeof(int), sizeof(int));
      if (*descriptor < 0 && number == 1) {
        *descriptor = received;
      } else {
        close(received);
        is_bad = 1;
      }
    }
  }
  if (!is_bad) return count;
  if (*descriptor >= 0) close(*descriptor);
  *descriptor = -1;
  return -EBADMSG;
}

int64_t amk_poll(int32_t descriptor, int32_t writing, int32_t wake, int32_t milliseconds) {
  struct pollfd waits[2] = {{.fd = descriptor, .events = writing ? POLLOUT : POLLIN}, {.fd = wake, .events = POLLIN}};
  int count;
  do count = poll(waits, 2, milliseconds);
  while (count < 0 && errno == EINTR && milliseconds < 0);
  if (count < 0) return errno == EINTR ? 0 : -errno;
  return (waits[0].revents ? 1 : 0) | (waits[1].revents ? 2 : 0);
}

int32_t amk_judge_descriptor(int32_t descriptor) {
  int flags = fcntl(descriptor, F_GETFL);
  if (flags < 0) return AMK_DESCRIPTOR_FAILED;
  if (flags & O_PATH) return AMK_DESCRIPTOR_PATH_ONLY;
  struct stat status;
  if (fstat(descriptor, &status) != 0) return AMK_DESCRIPTOR_FAILED;
  if (!S_ISREG(status.st_mode) && !S_ISDIR(status.st_mode)) return AMK_DESCRIPTOR_KIND;
  if ((flags & O_ACCMODE) == O_WRONLY) return AMK_DESCRIPTOR_WRITE_ONLY;
  struct statfs system;
  if (fstatfs(descriptor, &system) != 0) return AMK_DESCRIPTOR_FAILED;
  // Magic numbers of statfs(2): proc, sysfs, debugfs, tracefs, cgroup, cgroup2, securityfs, selinuxfs, bpf, pstore, efivarfs, configfs,
  // devpts, mqueue, binfmt_misc, autofs, nsfs.
  static const uint32_t pseudo[] = {0x9fa0,     0x62656572, 0x64626720, 0x74726163, 0x0027e0eb, 0x63677270,
                                    0x73636673, 0xf97cff8c, 0xcafe4a11, 0x6165676c, 0xde5e81e4, 0x62656570,
                                    0x1cd1,     0x19800202, 0x42494e4d, 0x0187,     0x6e736673};
  for (size_t index = 0; index < sizeof pseudo / sizeof pseudo[0]; index++) {
    if ((uint32_t)system.f_type == pseudo[index]) return AMK_DESCRIPTOR_PSEUDO;
  }
  return S_ISDIR(status.st_mode) ? 2 : 1;
}
