#ifndef CLIBARCHIVE_SHIM_H
#define CLIBARCHIVE_SHIM_H

#include <archive.h>
#include <archive_entry.h>

// AE_IFREG is a macro with a cast, which Swift cannot import.
static inline void capture_entry_set_regular_file(struct archive_entry *entry) {
    archive_entry_set_filetype(entry, AE_IFREG);
}

#endif
