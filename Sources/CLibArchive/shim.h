#ifndef CLIBARCHIVE_SHIM_H
#define CLIBARCHIVE_SHIM_H

#include <archive.h>
#include <archive_entry.h>
#include <dlfcn.h>
#include <sys/stat.h>
#include <unistd.h>

// libarchive needs a dozen other libraries, so it is not linked: code that needs it loads it. The types of these
// members are those of libarchive's headers.
struct capture_archive {
    __typeof__(&archive_write_new) write_new;
    __typeof__(&archive_write_set_format_ustar) write_set_format_ustar;
    __typeof__(&archive_write_add_filter_none) write_add_filter_none;
    __typeof__(&archive_write_set_bytes_per_block) write_set_bytes_per_block;
    __typeof__(&archive_write_set_bytes_in_last_block) write_set_bytes_in_last_block;
    __typeof__(&archive_write_open_memory) write_open_memory;
    __typeof__(&archive_write_header) write_header;
    __typeof__(&archive_write_data) write_data;
    __typeof__(&archive_write_close) write_close;
    __typeof__(&archive_write_free) write_free;
    __typeof__(&archive_entry_new) entry_new;
    __typeof__(&archive_entry_free) entry_free;
    __typeof__(&archive_entry_set_pathname) entry_set_pathname;
    __typeof__(&archive_entry_set_size) entry_set_size;
    __typeof__(&archive_entry_set_filetype) entry_set_filetype;
    __typeof__(&archive_entry_set_perm) entry_set_perm;
    __typeof__(&archive_entry_set_mtime) entry_set_mtime;
};

// Fills the whole table or fails. The library stays loaded.
static inline int capture_archive_load(struct capture_archive *table) {
    void *library = dlopen("libarchive.so.13", RTLD_NOW | RTLD_LOCAL);
    if (!library) return 0;
    int found = 1;
#define CAPTURE_FIND(member) \
    table->member = (__typeof__(table->member))dlsym(library, "archive_" #member); \
    found = found && table->member
    CAPTURE_FIND(write_new);
    CAPTURE_FIND(write_set_format_ustar);
    CAPTURE_FIND(write_add_filter_none);
    CAPTURE_FIND(write_set_bytes_per_block);
    CAPTURE_FIND(write_set_bytes_in_last_block);
    CAPTURE_FIND(write_open_memory);
    CAPTURE_FIND(write_header);
    CAPTURE_FIND(write_data);
    CAPTURE_FIND(write_close);
    CAPTURE_FIND(write_free);
    CAPTURE_FIND(entry_new);
    CAPTURE_FIND(entry_free);
    CAPTURE_FIND(entry_set_pathname);
    CAPTURE_FIND(entry_set_size);
    CAPTURE_FIND(entry_set_filetype);
    CAPTURE_FIND(entry_set_perm);
    CAPTURE_FIND(entry_set_mtime);
#undef CAPTURE_FIND
    return found;
}

// The calls that read an archive.
#define CAPTURE_READ_CALLS(CALL) \
    CALL(read_new) \
    CALL(read_free) \
    CALL(read_support_filter_zstd) \
    CALL(read_support_format_tar) \
    CALL(read_support_format_raw) \
    CALL(read_set_read_callback) \
    CALL(read_set_callback_data) \
    CALL(read_open1) \
    CALL(read_next_header) \
    CALL(read_data) \
    CALL(read_header_position) \
    CALL(filter_bytes) \
    CALL(format) \
    CALL(error_string) \
    CALL(entry_pathname) \
    CALL(entry_filetype) \
    CALL(entry_hardlink) \
    CALL(entry_symlink) \
    CALL(entry_size) \
    CALL(entry_size_is_set)

struct capture_archive_reader {
#define CAPTURE_MEMBER(member) __typeof__(&archive_##member) member;
    CAPTURE_READ_CALLS(CAPTURE_MEMBER)
#undef CAPTURE_MEMBER
};

// Fills the whole table or fails. The library stays loaded.
static inline int capture_archive_reader_load(struct capture_archive_reader *table, const char *file) {
    void *library = dlopen(file, RTLD_NOW | RTLD_LOCAL);
    if (!library) return 0;
    int found = 1;
#define CAPTURE_FIND(member) \
    table->member = (__typeof__(table->member))dlsym(library, "archive_" #member); \
    found = found && table->member;
    CAPTURE_READ_CALLS(CAPTURE_FIND)
#undef CAPTURE_FIND
    return found;
}

#endif
