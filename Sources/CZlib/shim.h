#ifndef CZLIB_SHIM_H
#define CZLIB_SHIM_H

#include <zlib.h>

// inflateInit2 is a macro that passes the header's version and the size of the struct. Swift cannot import it.
//
// wrapper: 0 for zlib, 16 for gzip, -1 for raw deflate.
static inline int capture_inflate_init(z_stream *stream, int wrapper) {
    return inflateInit2(stream, wrapper < 0 ? -MAX_WBITS : wrapper + MAX_WBITS);
}

// deflateInit2 is such a macro too. 8 is zlib's default memory level.
static inline int capture_deflate_init_raw(z_stream *stream, int level) {
    return deflateInit2(stream, level, Z_DEFLATED, -MAX_WBITS, 8, Z_DEFAULT_STRATEGY);
}

#endif
