#ifndef CTIFF_SHIM_H
#define CTIFF_SHIM_H

#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <tiffio.h>
#include "../CLinux/table.h"

// libtiff takes longer to load than all other decoders together, so only a process for TIFF loads it.
#define CAPTURE_TIFF_CALLS(CALL) \
    CALL(TIFF, OpenOptionsAlloc) \
    CALL(TIFF, OpenOptionsFree) \
    CALL(TIFF, OpenOptionsSetMaxSingleMemAlloc) \
    CALL(TIFF, OpenOptionsSetErrorHandlerExtR) \
    CALL(TIFF, OpenOptionsSetWarningHandlerExtR) \
    CALL(TIFF, ClientOpenExt) \
    CALL(TIFF, Close) \
    CALL(TIFF, GetField) \
    CALL(TIFF, GetFieldDefaulted) \
    CALL(TIFF, IsTiled) \
    CALL(TIFF, LastDirectory) \
    CALL(TIFF, FindField) \
    CALL(TIFF, FieldDataType) \
    CALL(TIFF, NumberOfStrips) \
    CALL(TIFF, StripSize64) \
    CALL(TIFF, TileSize64) \
    CALL(TIFF, ComputeTile) \
    CALL(TIFF, GetStrileOffset) \
    CALL(TIFF, GetStrileByteCount) \
    CALL(TIFF, ReadEncodedStrip) \
    CALL(TIFF, ReadEncodedTile)

CAPTURE_TABLE(capture_tiff, CAPTURE_TIFF_CALLS)

// A file in memory with its position, and the first error that libtiff reported.
struct capture_tiff_bytes {
    const unsigned char *bytes;
    uint64_t count;
    uint64_t position;
    char message[200];
};

static inline tmsize_t capture_tiff_read(thandle_t handle, void *buffer, tmsize_t count) {
    struct capture_tiff_bytes *file = (struct capture_tiff_bytes *)handle;
    if (count < 0 || file->position >= file->count) return 0;
    uint64_t rest = file->count - file->position;
    if ((uint64_t)count > rest) count = (tmsize_t)rest;
    memcpy(buffer, file->bytes + file->position, (size_t)count);
    file->position += (uint64_t)count;
    return count;
}

static inline tmsize_t capture_tiff_write(thandle_t handle, void *buffer, tmsize_t count) { return -1; }

static inline toff_t capture_tiff_seek(thandle_t handle, toff_t offset, int from) {
    struct capture_tiff_bytes *file = (struct capture_tiff_bytes *)handle;
    if (from == SEEK_CUR) offset += file->position;
    if (from == SEEK_END) offset += file->count;
    return file->position = offset;
}

static inline int capture_tiff_close(thandle_t handle) { return 0; }

static inline toff_t capture_tiff_size(thandle_t handle) { return ((struct capture_tiff_bytes *)handle)->count; }

// The handlers receive a va_list, which Swift cannot use. They are set for each file, and keep libtiff from writing to
// standard error.
static inline int capture_tiff_error(
    TIFF *tiff, void *user_data, const char *module, const char *format, va_list list) {
    struct capture_tiff_bytes *file = (struct capture_tiff_bytes *)user_data;
    if (!file->message[0]) vsnprintf(file->message, sizeof file->message, format, list);
    return 1;
}

static inline int capture_tiff_warning(
    TIFF *tiff, void *user_data, const char *module, const char *format, va_list list) {
    return 1;
}

// `file` must live until Close. No single allocation is larger than `memory` bytes.
static inline TIFF *capture_tiff_open(
    const struct capture_tiff *table, struct capture_tiff_bytes *file, tmsize_t memory) {
    TIFFOpenOptions *options = table->OpenOptionsAlloc();
    if (!options) return NULL;
    table->OpenOptionsSetMaxSingleMemAlloc(options, memory);
    table->OpenOptionsSetErrorHandlerExtR(options, capture_tiff_error, file);
    table->OpenOptionsSetWarningHandlerExtR(options, capture_tiff_warning, file);
    // "m" keeps libtiff from mapping the file.
    TIFF *tiff = table->ClientOpenExt(
        "", "rm", (thandle_t)file, capture_tiff_read, capture_tiff_write, capture_tiff_seek, capture_tiff_close,
        capture_tiff_size, NULL, NULL, options);
    table->OpenOptionsFree(options);
    return tiff;
}

// TIFFGetField is variadic, and the number of bits that it writes depends on the tag. This function is for tags of 16
// bits, the next one for tags of 32 bits.
static inline uint16_t capture_tiff_short(const struct capture_tiff *table, TIFF *tiff, uint32_t tag) {
    uint16_t value = 0;
    return table->GetFieldDefaulted(tiff, tag, &value) ? value : 0;
}

static inline uint32_t capture_tiff_long(const struct capture_tiff *table, TIFF *tiff, uint32_t tag) {
    uint32_t value = 0;
    return table->GetField(tiff, tag, &value) ? value : 0;
}

// The bytes of a text in a tag that libtiff does not know; NULL if it is missing or not a text.
static inline const char *capture_tiff_ascii(
    const struct capture_tiff *table, TIFF *tiff, uint32_t tag, uint32_t *count) {
    const char *text = NULL;
    const TIFFField *field = table->FindField(tiff, tag, TIFF_ANY);
    if (!field || table->FieldDataType(field) != TIFF_ASCII) return NULL;
    return table->GetField(tiff, tag, count, &text) ? text : NULL;
}

// The meaning of the last channel after the colours; -1 without one.
static inline int capture_tiff_last_extra(const struct capture_tiff *table, TIFF *tiff) {
    uint16_t count = 0;
    const uint16_t *kinds = NULL;
    return table->GetFieldDefaulted(tiff, TIFFTAG_EXTRASAMPLES, &count, &kinds) && count ? kinds[count - 1] : -1;
}

#endif
