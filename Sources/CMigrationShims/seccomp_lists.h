// What the filter of system calls knows by number. Calls newer than the headers of the oldest system are written down here: from
// 424 on they have the same number on every architecture.
#pragma once
#include <stdint.h>
#include <sys/syscall.h>

#define SYS_clone3_ 435
#define SYS_close_range_ 436
#define IOPRIO_WHO_PROCESS_ 1
// All CLONE_NEW… flags: mounts, control groups, UTS, IPC, users, processes, network.
#define NAMESPACE_FLAGS 0x7E020000U

// Refused whatever the extension is started for.
static const int always_denied[] = {
    // Out of the process group, which is what the system kills.
    SYS_setsid, SYS_setpgid,
    // Other processes' memory, descriptors and inner life.
    SYS_ptrace, SYS_process_vm_readv, SYS_process_vm_writev, SYS_kcmp, SYS_move_pages, SYS_migrate_pages,
    438 /* pidfd_getfd */, 440 /* process_madvise */, 448 /* process_mrelease */, SYS_perf_event_open,
    // Calls that run beside this filter.
    425, 426, 427 /* io_uring_… */, SYS_bpf, SYS_userfaultfd,
    // Files without a path, which Landlock needs; what happens in others' directories.
    SYS_open_by_handle_at, SYS_fanotify_init, SYS_inotify_add_watch,
    // Mounts, roots, name spaces.
    SYS_mount, SYS_umount2, SYS_pivot_root, SYS_chroot, SYS_unshare, SYS_setns, 428 /* open_tree */,
    429 /* move_mount */, 430 /* fsopen */, 431 /* fsconfig */, 432 /* fsmount */, 433 /* fspick */,
    442 /* mount_setattr */, 443 /* quotactl_fd */, 467 /* open_tree_attr */, SYS_quotactl,
    // Services of the user's session and the network: a bus would start processes outside, and Landlock covers
    // neither sockets with a path nor datagrams.
    SYS_socket, SYS_connect, SYS_bind,
    // Memory, queues and keys that are shared by name with other processes of the user.
    SYS_shmget, SYS_shmat, SYS_shmctl, SYS_msgget, SYS_msgsnd, SYS_msgrcv, SYS_msgctl, SYS_semget, SYS_semop,
    SYS_semtimedop, SYS_semctl, SYS_mq_open, SYS_mq_unlink, SYS_keyctl, SYS_add_key, SYS_request_key,
    // The machine.
    SYS_kexec_load, SYS_kexec_file_load, SYS_init_module, SYS_finit_module, SYS_delete_module, SYS_swapon,
    SYS_swapoff, SYS_reboot, SYS_acct, SYS_syslog, SYS_sethostname, SYS_setdomainname, SYS_settimeofday,
    SYS_clock_settime, SYS_clock_adjtime, SYS_adjtimex, SYS_vhangup,
#ifdef __x86_64__
    SYS_iopl, SYS_ioperm, SYS_modify_ldt, SYS_uselib,
#endif
};

// Changes of metadata, which Landlock does not know. The kernel makes them through a descriptor open for reading too. These are
// refused...
static const int metadata_calls[] = {
#ifdef __x86_64__
    SYS_utime, SYS_utimes, SYS_futimesat,
#endif
    463 /* setxattrat */, 466 /* removexattrat */, 469 /* file_setattr */,
};

// ... and these can be handed over to the system, see metadata_supervisor.c.
static const int supervised_calls[] = {
#ifdef __x86_64__
    SYS_chmod, SYS_chown, SYS_lchown,
#endif
    SYS_fchmod, SYS_fchmodat, 452 /* fchmodat2 */, SYS_fchown, SYS_fchownat, SYS_utimensat, SYS_setxattr,
    SYS_lsetxattr, SYS_fsetxattr, SYS_removexattr, SYS_lremovexattr, SYS_fremovexattr,
};

// Controls of files that are harmless: what isatty(), terminal sizes, pipes and copies of files need.
static const uint32_t allowed_controls[] = {
    0x5401 /* TCGETS */, 0x5413 /* TIOCGWINSZ */, 0x540F /* TIOCGPGRP */, 0x541B /* FIONREAD */, 0x5421 /* FIONBIO */,
    0x5450 /* FIONCLEX */, 0x5451 /* FIOCLEX */, 0x5460 /* FIOQSIZE */, 2 /* FIGETBSZ */, 0x40049409U /* FICLONE */,
    0x4020940DU /* FICLONERANGE */, 0x80086601U /* FS_IOC_GETFLAGS */, 0x80046601U /* FS_IOC32_GETFLAGS */,
    0x801C581FU /* FS_IOC_FSGETXATTR */, 0xC020660BU /* FS_IOC_FIEMAP */,
};

// Controls that change flags and attributes of a file.
static const uint32_t metadata_controls[] = {
    0x40086602U /* FS_IOC_SETFLAGS */, 0x40046602U /* FS_IOC32_SETFLAGS */, 0x401C5820U /* FS_IOC_FSSETXATTR */,
};

// Commands of fcntl that send signals to others or hold up the others who open a file.
static const uint32_t denied_commands[] = {
    8 /* F_SETOWN */, 10 /* F_SETSIG */, 15 /* F_SETOWN_EX */, 1024 /* F_SETLEASE */, 1026 /* F_NOTIFY */,
};
