/* A preloaded library that leaves out the sync of a file that has got its name: the order of release 1.0, which loses
   files on btrfs before Linux 6.16. The tests show with it that the judge sees such a loss. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#define NAMES 256
static ino_t named[NAMES];
static unsigned count;

#define REAL(name, ...) ((int (*)(__VA_ARGS__))dlsym(RTLD_NEXT, #name))

static void remember(int folder, const char *name) {
    struct stat status;
    if (!fstatat(folder, name, &status, 0) && S_ISREG(status.st_mode)) named[count++ % NAMES] = status.st_ino;
}

int linkat(int from, const char *old, int to, const char *name, int flags) {
    int code = REAL(linkat, int, const char *, int, const char *, int)(from, old, to, name, flags);
    if (!code) remember(to, name);
    return code;
}

int renameat2(int from, const char *old, int to, const char *name, unsigned flags) {
    int code = REAL(renameat2, int, const char *, int, const char *, unsigned)(from, old, to, name, flags);
    if (!code) remember(to, name);
    return code;
}

int renameat(int from, const char *old, int to, const char *name) {
    int code = REAL(renameat, int, const char *, int, const char *)(from, old, to, name);
    if (!code) remember(to, name);
    return code;
}

int fsync(int file) {
    struct stat status;
    if (!fstat(file, &status))
        for (unsigned i = 0; i < NAMES; i++)
            if (named[i] && named[i] == status.st_ino) return 0;
    return REAL(fsync, int)(file);
}

int syncfs(int file) { return file < 0; } /* a large group gets it in place of those syncs */
