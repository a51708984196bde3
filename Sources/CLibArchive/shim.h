#ifndef CLIBARCHIVE_SHIM_H
#define CLIBARCHIVE_SHIM_H

#include <archive.h>
#include <archive_entry.h>
#include <sys/stat.h>
#include <unistd.h>
#include "../CLinux/table.h"

// libarchive needs a dozen other libraries, so only a process for archives loads it.
#define CAPTURE_READ_CALLS(CALL) \
    CALL(archive_, read_new) \
    CALL(archive_, read_free) \
    CALL(archive_, read_support_filter_bzip2) \
    CALL(archive_, read_support_filter_xz) \
    CALL(archive_, read_support_filter_zstd) \
    CALL(archive_, read_support_format_tar) \
    CALL(archive_, read_support_format_raw) \
    CALL(archive_, read_set_read_callback) \
    CALL(archive_, read_set_callback_data) \
    CALL(archive_, read_open1) \
    CALL(archive_, read_next_header) \
    CALL(archive_, read_data) \
    CALL(archive_, read_header_position) \
    CALL(archive_, filter_bytes) \
    CALL(archive_, format) \
    CALL(archive_, error_string) \
    CALL(archive_, entry_pathname) \
    CALL(archive_, entry_filetype) \
    CALL(archive_, entry_hardlink) \
    CALL(archive_, entry_symlink) \
    CALL(archive_, entry_size) \
    CALL(archive_, entry_size_is_set) \
    CALL(archive_, entry_sparse_count)

CAPTURE_TABLE(capture_archive_reader, CAPTURE_READ_CALLS)

#endif
