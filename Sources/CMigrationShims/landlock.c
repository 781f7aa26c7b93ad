#define _GNU_SOURCE
#include <errno.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "launch.h"
#include "launch_parts.h"

// The kernel's numbers and structures, written down here because the headers of older systems lack the newer ones.
enum { CREATE_RULESET = 444, ADD_RULE = 445, RESTRICT_SELF = 446 };
enum { CREATE_RULESET_VERSION = 1, RULE_PATH_BENEATH = 1 };

#define FS_EXECUTE (1ULL << 0)
#define FS_WRITE_FILE (1ULL << 1)
#define FS_READ_FILE (1ULL << 2)
#define FS_READ_DIR (1ULL << 3)
#define FS_REMOVE_DIR (1ULL << 4)
#define FS_REMOVE_FILE (1ULL << 5)
#define FS_MAKE_DIR (1ULL << 7)
#define FS_MAKE_REG (1ULL << 8)
#define FS_MAKE_SYM (1ULL << 12)
#define FS_REFER (1ULL << 13)
#define FS_TRUNCATE (1ULL << 14)
#define FS_IOCTL_DEV (1ULL << 15)
// All rights of the first version, those to make devices, sockets and FIFOs among them, which are granted to nobody.
#define FS_VERSION_1 ((1ULL << 13) - 1)

#define NET_BIND_TCP (1ULL << 0)
#define NET_CONNECT_TCP (1ULL << 1)
#define SCOPE_ABSTRACT_UNIX_SOCKET (1ULL << 0)
#define SCOPE_SIGNAL (1ULL << 1)

struct ruleset_attributes {
  uint64_t handled_access_fs, handled_access_net, scoped;
};
struct path_beneath_attributes {
  uint64_t allowed_access;
  int32_t parent;
} __attribute__((packed));

static uint64_t known_rights(int32_t abi) {
  uint64_t rights = FS_VERSION_1;
  if (abi >= 2) rights |= FS_REFER;
  if (abi >= 3) rights |= FS_TRUNCATE;
  if (abi >= 5) rights |= FS_IOCTL_DEV;
  return rights;
}

int32_t amk_landlock_abi(void) {
  long version = syscall(CREATE_RULESET, NULL, 0, CREATE_RULESET_VERSION);
  return version < 0 ? 0 : (int32_t)version;
}

int64_t amk_landlock_create(int32_t abi) {
  struct ruleset_attributes attributes = {.handled_access_fs = known_rights(abi)};
  // Older kernels take a shorter structure; a longer one is accepted only if the rest is zero.
  if (abi >= 4) attributes.handled_access_net = NET_BIND_TCP | NET_CONNECT_TCP;
  if (abi >= 6) attributes.scoped = SCOPE_ABSTRACT_UNIX_SOCKET | SCOPE_SIGNAL;
  size_t size = abi >= 6 ? 24 : abi >= 4 ? 16 : 8;
  long ruleset = syscall(CREATE_RULESET, &attributes, size, 0);
  return ruleset < 0 ? -errno : ruleset;
}

int64_t amk_landlock_allow(int32_t ruleset, int32_t abi, int32_t object, int32_t is_directory, int32_t rights) {
  uint64_t access = 0;
  if (rights & AMK_READ) access |= FS_READ_FILE | FS_READ_DIR;
  if (rights & AMK_OPEN) access |= FS_READ_FILE;
  if (rights & AMK_EXECUTE) access |= FS_EXECUTE;
  if (rights & AMK_WRITE)
    access |= FS_WRITE_FILE | FS_TRUNCATE | FS_REMOVE_DIR | FS_REMOVE_FILE | FS_MAKE_DIR | FS_MAKE_REG | FS_MAKE_SYM;
  if (rights & AMK_MOVE) access |= FS_REFER;
  if (!is_directory) access &= FS_EXECUTE | FS_WRITE_FILE | FS_READ_FILE | FS_TRUNCATE;
  access &= known_rights(abi);
  if (access == 0) return 0;
  struct path_beneath_attributes attributes = {.allowed_access = access, .parent = object};
  return syscall(ADD_RULE, ruleset, RULE_PATH_BENEATH, &attributes, 0) < 0 ? -errno : 0;
}

int64_t amk_landlock_restrict(int32_t ruleset) {
  return syscall(RESTRICT_SELF, ruleset, 0) < 0 ? -errno : 0;
}
