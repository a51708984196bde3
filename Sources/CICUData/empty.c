#include "icu_data.h"

#include <stdint.h>

// The form of ICU's data packages (unicode/udata.h, and ucmndata.h in ICU's sources): a header, and a table of contents
// without entries.
struct package {
    uint16_t header_size;
    uint8_t magic[2];
    uint16_t info_size, reserved;
    uint8_t is_big_endian, charset_family, unit_size, reserved_byte;
    uint8_t format[4], format_version[4], data_version[4];
    uint8_t padding[8];
    uint32_t count, reserved_entry;
};

__attribute__((visibility("hidden"), aligned(16))) const struct package icudt76_dat = {
    .header_size = 32, .magic = {0xda, 0x27}, .info_size = 20, .unit_size = 2, .format = "ToCP", .format_version = {1},
};
