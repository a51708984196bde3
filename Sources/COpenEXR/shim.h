#ifndef COPENEXR_SHIM_H
#define COPENEXR_SHIM_H

#include <OpenEXR/openexr.h>
#include <string.h>

// A file in memory, for the two callbacks below.
struct capture_exr_bytes {
    const unsigned char *bytes;
    int64_t count;
};

static inline int64_t capture_exr_size(exr_const_context_t context, void *user_data) {
    return ((const struct capture_exr_bytes *)user_data)->count;
}

static inline int64_t capture_exr_read(
    exr_const_context_t context, void *user_data, void *buffer, uint64_t count, uint64_t offset,
    exr_stream_error_func_ptr_t error) {
    const struct capture_exr_bytes *file = (const struct capture_exr_bytes *)user_data;
    if (offset >= (uint64_t)file->count) return 0;
    uint64_t rest = (uint64_t)file->count - offset;
    if (count > rest) count = rest;
    memcpy(buffer, file->bytes + offset, count);
    return (int64_t)count;
}

// The default handler prints to standard error, so this empty one replaces it.
static inline void capture_exr_silence(exr_const_context_t context, exr_result_t code, const char *message) {}

// EXR_DEFAULT_CONTEXT_INITIALIZER is a macro that Swift cannot import, and the read callback has a variadic argument.
// `file` must live until exr_finish.
static inline exr_result_t capture_exr_open(exr_context_t *context, struct capture_exr_bytes *file, int side) {
    exr_context_initializer_t start = EXR_DEFAULT_CONTEXT_INITIALIZER;
    start.error_handler_fn = capture_exr_silence;
    start.user_data = file;
    start.read_fn = capture_exr_read;
    start.size_fn = capture_exr_size;
    start.max_image_width = start.max_image_height = side;
    start.max_tile_width = start.max_tile_height = side;
    start.flags = EXR_CONTEXT_FLAG_SILENT_HEADER_PARSE | EXR_CONTEXT_FLAG_DISABLE_CHUNK_RECONSTRUCTION;
    return exr_start_read(context, "picture", &start);
}

#endif
