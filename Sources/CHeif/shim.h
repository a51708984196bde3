#ifndef CHEIF_SHIM_H
#define CHEIF_SHIM_H

#include <dlfcn.h>
#include <libheif/heif.h>

// libheif loads several video encoders and decoders. So it is not linked, and only a process for HEIF loads it. The types
// of these members are those of libheif's header.
#define CAPTURE_HEIF_CALLS(CALL) \
    CALL(init) \
    CALL(context_alloc) \
    CALL(context_free) \
    CALL(context_read_from_memory_without_copy) \
    CALL(context_set_maximum_image_size_limit) \
    CALL(context_set_max_decoding_threads) \
    CALL(context_get_primary_image_ID) \
    CALL(context_get_primary_image_handle) \
    CALL(image_handle_release) \
    CALL(image_handle_get_ispe_width) \
    CALL(image_handle_get_ispe_height) \
    CALL(image_handle_get_list_of_depth_image_IDs) \
    CALL(image_handle_get_depth_image_handle) \
    CALL(image_handle_get_depth_image_representation_info) \
    CALL(depth_representation_info_free) \
    CALL(image_handle_get_list_of_metadata_block_IDs) \
    CALL(image_handle_get_metadata_type) \
    CALL(image_handle_get_metadata_content_type) \
    CALL(image_handle_get_metadata_size) \
    CALL(image_handle_get_metadata) \
    CALL(image_handle_get_raw_color_profile_size) \
    CALL(image_handle_get_raw_color_profile) \
    CALL(decode_image) \
    CALL(decoding_options_alloc) \
    CALL(decoding_options_free) \
    CALL(image_release) \
    CALL(image_get_width) \
    CALL(image_get_height) \
    CALL(image_get_colorspace) \
    CALL(image_get_bits_per_pixel_range) \
    CALL(image_get_plane_readonly)

struct capture_heif {
#define CAPTURE_MEMBER(member) __typeof__(&heif_##member) member;
    CAPTURE_HEIF_CALLS(CAPTURE_MEMBER)
#undef CAPTURE_MEMBER
};

// Fills the whole table or fails. The library stays loaded.
static inline int capture_heif_load(struct capture_heif *table, const char *file) {
    void *library = dlopen(file, RTLD_NOW | RTLD_LOCAL);
    if (!library) return 0;
    int found = 1;
#define CAPTURE_FIND(member) \
    table->member = (__typeof__(table->member))dlsym(library, "heif_" #member); \
    found = found && table->member;
    CAPTURE_HEIF_CALLS(CAPTURE_FIND)
#undef CAPTURE_FIND
    return found;
}

#endif
