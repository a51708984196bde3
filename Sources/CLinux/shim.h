#ifndef CLINUX_SHIM_H
#define CLINUX_SHIM_H

// renameat2(2) is declared by glibc for _GNU_SOURCE only, which Swift's Glibc module does not define.
extern int renameat2(int old_folder, const char *old_path, int new_folder, const char *new_path, unsigned int flags);

// RENAME_NOREPLACE of linux/fs.h, for the same reason.
static const unsigned int capture_rename_no_replace = 1;

// __O_TMPFILE of asm-generic/fcntl.h, which O_TMPFILE joins with O_DIRECTORY; likewise.
static const int capture_unnamed_file = 020000000;

#endif
