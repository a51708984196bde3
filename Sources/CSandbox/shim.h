#ifndef CSANDBOX_SHIM_H
#define CSANDBOX_SHIM_H

#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <stddef.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <errno.h>

#if defined(__x86_64__)
#define CAPTURE_ARCHITECTURE AUDIT_ARCH_X86_64
#elif defined(__aarch64__)
#define CAPTURE_ARCHITECTURE AUDIT_ARCH_AARCH64
#endif

// These functions are in C because prctl(2) and syscall(2) are variadic, and Swift does not import the macros of a BPF
// program.

// Sets the soft and hard limits of a process: bytes of memory, seconds of processor time, no new descriptors, no bytes in
// regular files, no core dumps. The resource types of C and Swift differ. 0 means success.
static inline int capture_set_limits(unsigned long bytes, unsigned long seconds) {
    struct rlimit memory = {bytes, bytes}, time = {seconds, seconds}, none = {0, 0};
    return setrlimit(RLIMIT_AS, &memory) | setrlimit(RLIMIT_CPU, &time) | setrlimit(RLIMIT_NOFILE, &none)
        | setrlimit(RLIMIT_FSIZE, &none) | setrlimit(RLIMIT_CORE, &none);
}

// Makes the process unable to gain privileges, and hides its memory from other processes of the user.
static inline int capture_give_up_privileges(void) {
    return prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) | prctl(PR_SET_DUMPABLE, 0, 0, 0, 0);
}

#define CAPTURE_ADD(...) program[count++] = (struct sock_filter)__VA_ARGS__
#define CAPTURE_LOAD(field) \
    CAPTURE_ADD(BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, field)))
#define CAPTURE_END(action) CAPTURE_ADD(BPF_STMT(BPF_RET | BPF_K, action))
// Runs the next `skip` instructions only if the loaded number is `number`.
#define CAPTURE_ONLY_FOR(number, skip) CAPTURE_ADD(BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, number, 0, skip))

// Allows only the system calls below. Any other kills the process. Returns 0 or an errno.
//
// threads: whether clone(2) may make a thread, because libde265 decodes in a thread of its own. It may never make a
// process. seeks: whether lseek(2) is allowed, with which archives are read.
// Memory can never become executable.
static inline int capture_close_sandbox(int threads, int seeks) {
#ifndef CAPTURE_ARCHITECTURE
    return ENOSYS;
#else
    static const int plain[] = {
        SYS_read, SYS_write, SYS_brk, SYS_munmap, SYS_mremap, SYS_madvise, SYS_futex, SYS_getrandom,
        SYS_clock_gettime, SYS_rt_sigreturn, SYS_exit, SYS_exit_group,
        // glibc's qsort asks for the size of the memory.
        SYS_sysinfo,
    };
    static const int for_threads[] = {
        SYS_rt_sigaction, SYS_rt_sigprocmask, SYS_set_robust_list, SYS_rseq, SYS_sched_yield,
    };
    struct sock_filter program[128];
    unsigned short count = 0;
    CAPTURE_LOAD(arch);
    CAPTURE_ADD(BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, CAPTURE_ARCHITECTURE, 1, 0));
    CAPTURE_END(SECCOMP_RET_KILL_PROCESS);
    // x86-64 also runs the calls of x32. Their numbers are larger than all numbers of the list, so they are forbidden.
    CAPTURE_LOAD(nr);
    for (unsigned index = 0; index < sizeof plain / sizeof *plain; index++) {
        CAPTURE_ONLY_FOR(plain[index], 1);
        CAPTURE_END(SECCOMP_RET_ALLOW);
    }
    for (unsigned index = 0; threads && index < sizeof for_threads / sizeof *for_threads; index++) {
        CAPTURE_ONLY_FOR(for_threads[index], 1);
        CAPTURE_END(SECCOMP_RET_ALLOW);
    }
    if (seeks) {
        CAPTURE_ONLY_FOR(SYS_lseek, 1);
        CAPTURE_END(SECCOMP_RET_ALLOW);
    }
    if (threads) {
        // After ENOSYS, glibc uses clone(2), whose flags a filter can check. CLONE_THREAD of linux/sched.h is 0x10000.
        CAPTURE_ONLY_FOR(SYS_clone3, 1);
        CAPTURE_END(SECCOMP_RET_ERRNO | ENOSYS);
        CAPTURE_ONLY_FOR(SYS_clone, 4);
        CAPTURE_LOAD(args[0]);
        CAPTURE_ADD(BPF_JUMP(BPF_JMP | BPF_JSET | BPF_K, 0x10000, 0, 1));
        CAPTURE_END(SECCOMP_RET_ALLOW);
        CAPTURE_END(SECCOMP_RET_KILL_PROCESS);
    }
    const int with_protection[] = {SYS_mmap, SYS_mprotect};
    for (unsigned index = 0; index < 2; index++) {
        // The third argument of both is the protection; 4 is PROT_EXEC.
        CAPTURE_ONLY_FOR(with_protection[index], 4);
        CAPTURE_LOAD(args[2]);
        CAPTURE_ADD(BPF_JUMP(BPF_JMP | BPF_JSET | BPF_K, 4, 1, 0));
        CAPTURE_END(SECCOMP_RET_ALLOW);
        CAPTURE_END(SECCOMP_RET_KILL_PROCESS);
    }
    CAPTURE_END(SECCOMP_RET_KILL_PROCESS);
    struct sock_fprog filter = {count, program};
    extern long syscall(long, ...);
    return syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, 0, &filter) == 0 ? 0 : errno;
#endif
}

#undef CAPTURE_ONLY_FOR
#undef CAPTURE_END
#undef CAPTURE_LOAD
#undef CAPTURE_ADD

// Each function tries something that the sandbox forbids. The test of the sandbox uses them.
static inline void capture_attempt_fork(void) {
    extern int fork(void);
    fork();
}

static inline void capture_attempt_exec(void) {
    extern int execve(const char *, char *const *, char *const *);
    char *const arguments[] = {(char *)"true", 0};
    execve("/bin/true", arguments, arguments + 1);
}

#endif
