#ifndef CAPTURE_TABLE_H
#define CAPTURE_TABLE_H

#include <dlfcn.h>

// Tables of the calls of libraries that are not linked, because they take long to load: only code that needs one loads it.
// A list of calls is a macro CALLS(CALL) of CALL(prefix, member) for each; the types are those of the library's headers.

#define CAPTURE_MEMBER(prefix, member) __typeof__(&prefix##member) member;

#define CAPTURE_FIND(prefix, member) \
    table->member = (__typeof__(table->member))dlsym(library, #prefix #member); \
    found = found && table->member;

// Declares a table, and the function that fills the whole of it or fails. The library stays loaded.
#define CAPTURE_TABLE(name, CALLS) \
    struct name { \
        CALLS(CAPTURE_MEMBER) \
    }; \
    static inline int name##_load(struct name *table, const char *file) { \
        void *library = dlopen(file, RTLD_NOW | RTLD_LOCAL); \
        if (!library) return 0; \
        int found = 1; \
        CALLS(CAPTURE_FIND) \
        return found; \
    }

#endif
