#ifndef CLINUX_SHIM_H
#define CLINUX_SHIM_H

// This header includes no system header: this module would then own types that Swift imports from Glibc.

// glibc declares renameat2(2) only for _GNU_SOURCE, which Swift's Glibc module does not define.
extern int renameat2(int old_folder, const char *old_path, int new_folder, const char *new_path, unsigned int flags);

// RENAME_NOREPLACE of linux/fs.h is missing there for the same reason.
static const unsigned int capture_rename_no_replace = 1;

// __O_TMPFILE of asm-generic/fcntl.h, which O_TMPFILE combines with O_DIRECTORY, is missing too.
static const int capture_unnamed_file = 020000000;

// memmem(3) is missing too.
extern void *memmem(const void *haystack, unsigned long count, const void *needle, unsigned long needle_count);

// sync_file_range(2) is missing too. SYNC_FILE_RANGE_WRITE of linux/fs.h starts writing and does not wait.
extern int sync_file_range(int file, long long offset, long long count, unsigned int flags);
static const unsigned int capture_start_writing = 2;

// memfd_create(2) is missing too. MFD_CLOEXEC of linux/memfd.h closes the file in a program that is started.
extern int memfd_create(const char *name, unsigned int flags);
static const unsigned int capture_close_on_exec = 1;

// eventfd(2) is in sys/eventfd.h, which is not part of that module. EFD_CLOEXEC and EFD_NONBLOCK of that header.
extern int eventfd(unsigned int count, int flags);
static const int capture_event_flags = 02000000 | 04000;

// mallopt(3) is in malloc.h, which is not part of that module.
extern int mallopt(int setting, int value);
static const int capture_trim_threshold = -1; // M_TRIM_THRESHOLD
static const int capture_mmap_threshold = -3; // M_MMAP_THRESHOLD

// posix_spawn_file_actions_addclosefrom_np(3) is missing too. The type of its first argument is Glibc's.
extern int posix_spawn_file_actions_addclosefrom_np(void *actions, int first);

// sched_getaffinity(2) is missing too. The result is the number of processors that this process may use; 0 if the
// kernel does not report it.
static inline int capture_processors(void) {
    extern int sched_getaffinity(int, unsigned long, unsigned char *);
    unsigned char set[1024] = {0};
    int processors = 0;
    if (sched_getaffinity(0, sizeof set, set) == 0) {
        for (unsigned long index = 0; index < sizeof set; index++) {
            processors += __builtin_popcount(set[index]);
        }
    }
    return processors;
}

// openat(2) is variadic, so Swift cannot call it.
static inline int capture_openat(int folder, const char *name, int flags, unsigned int mode) {
    extern int openat(int, const char *, int, ...);
    return openat(folder, name, flags, mode);
}

// Calls the variadic ioctl(2) with FICLONE of linux/fs.h: the target then shares the source's blocks. 0 means success.
static inline int capture_clone(int target, int source) {
    extern int ioctl(int, unsigned long, ...);
    return ioctl(target, 0x40049409, source);
}

// Calls the variadic ioctl(2) with FS_IOC_GET_ENCRYPTION_POLICY_EX of linux/fscrypt.h: 0 if the file or folder has a policy.
// The argument is a size and then the policy, which has at most 24 bytes.
static inline int capture_encryption_policy(int file) {
    extern int ioctl(int, unsigned long, ...);
    struct {
        unsigned long long size;
        unsigned char policy[24];
    } answer = {24, {0}};
    return ioctl(file, 0xc0096616, &answer);
}

// statfs(2) is in sys/vfs.h, which is not part of Glibc's module either. The result is f_type, the first field of the
// structure, for an open file or, if there is a path, for the path; on failure it is -1 with errno set.
static inline long capture_file_system(int file, const char *path) {
    extern int fstatfs(int, void *);
    extern int statfs(const char *, void *);
    union {
        long type;
        char whole[256];
    } status;
    int code = path ? statfs(path, &status) : fstatfs(file, &status);
    return code == 0 ? (long)(unsigned int)status.type : -1;
}

// glibc declares syncfs(2) only for _GNU_SOURCE.
extern int syncfs(int file);

// Calls the variadic ioctl(2) with TIOCGWINSZ of asm-generic/ioctls.h. The result is the number of rows (0) or columns (1)
// of the terminal; 0 if the file is not a terminal.
static inline int capture_window(int file, int side) {
    unsigned short size[4] = {0, 0, 0, 0};
    extern int ioctl(int, unsigned long, ...);
    return ioctl(file, 0x5413, size) == 0 ? size[side] : 0;
}

// Opens a routing socket (rtnetlink(7)) that receives changes of links, addresses and routes for IPv4 and IPv6; on
// failure it returns -1 and sets errno. The structure is sockaddr_nl of linux/netlink.h: family 16 and the groups
// RTMGRP_LINK, IPV4_IFADDR, IPV4_ROUTE, IPV6_IFADDR and IPV6_ROUTE.
static inline int capture_route_socket(void) {
    extern int socket(int, int, int);
    extern int bind(int, const void *, unsigned int);
    extern int close(int);
    struct {
        unsigned short family, padding;
        unsigned int process, groups;
    } address = {16, 0, 0, 0x1 | 0x10 | 0x40 | 0x100 | 0x400};
    // The numbers mean SOCK_RAW | SOCK_CLOEXEC | SOCK_NONBLOCK.
    int file = socket(16, 3 | 02000000 | 04000, 0);
    if (file >= 0 && bind(file, &address, sizeof address) != 0) {
        close(file);
        return -1;
    }
    return file;
}

#endif
