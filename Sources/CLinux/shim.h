#ifndef CLINUX_SHIM_H
#define CLINUX_SHIM_H

// No system header is included: this module would then own types that Swift knows from Glibc.

// renameat2(2) is declared by glibc for _GNU_SOURCE only, which Swift's Glibc module does not define.
extern int renameat2(int old_folder, const char *old_path, int new_folder, const char *new_path, unsigned int flags);

// RENAME_NOREPLACE of linux/fs.h, for the same reason.
static const unsigned int capture_rename_no_replace = 1;

// __O_TMPFILE of asm-generic/fcntl.h, which O_TMPFILE joins with O_DIRECTORY; likewise.
static const int capture_unnamed_file = 020000000;

// memmem(3), likewise.
extern void *memmem(const void *haystack, unsigned long count, const void *needle, unsigned long needle_count);

// sync_file_range(2), likewise; SYNC_FILE_RANGE_WRITE of linux/fs.h has the kernel begin to write and does not wait.
extern int sync_file_range(int file, long long offset, long long count, unsigned int flags);
static const unsigned int capture_start_writing = 2;

// sched_getaffinity(2), likewise: how many processors this process may use; 0 when the kernel does not say.
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

// openat(2) is variadic.
static inline int capture_openat(int folder, const char *name, int flags, unsigned int mode) {
    extern int openat(int, const char *, int, ...);
    return openat(folder, name, flags, mode);
}

// FICLONE of linux/fs.h through the variadic ioctl(2): the target shares the source's blocks. 0 when it worked.
static inline int capture_clone(int target, int source) {
    extern int ioctl(int, unsigned long, ...);
    return ioctl(target, 0x40049409, source);
}

// TIOCGWINSZ of asm-generic/ioctls.h through the variadic ioctl(2): columns of a terminal, 0 when it is none.
static inline int capture_columns(int file) {
    unsigned short size[4] = {0, 0, 0, 0};
    extern int ioctl(int, unsigned long, ...);
    return ioctl(file, 0x5413, size) == 0 ? size[1] : 0;
}

static inline int capture_rows(int file) {
    unsigned short size[4] = {0, 0, 0, 0};
    extern int ioctl(int, unsigned long, ...);
    return ioctl(file, 0x5413, size) == 0 ? size[0] : 0;
}

// A routing socket (rtnetlink(7)) that hears of links, addresses and routes, of both families; -1 and errno otherwise. The
// structure is sockaddr_nl of linux/netlink.h: family 16, groups RTMGRP_LINK, IPV4_IFADDR, IPV4_ROUTE, IPV6_IFADDR, IPV6_ROUTE.
static inline int capture_route_socket(void) {
    extern int socket(int, int, int);
    extern int bind(int, const void *, unsigned int);
    extern int close(int);
    struct {
        unsigned short family, padding;
        unsigned int process, groups;
    } address = {16, 0, 0, 0x1 | 0x10 | 0x40 | 0x100 | 0x400};
    // SOCK_RAW | SOCK_CLOEXEC | SOCK_NONBLOCK
    int file = socket(16, 3 | 02000000 | 04000, 0);
    if (file >= 0 && bind(file, &address, sizeof address) != 0) {
        close(file);
        return -1;
    }
    return file;
}

#endif
