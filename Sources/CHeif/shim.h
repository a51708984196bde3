#ifndef CHEIF_SHIM_H
#define CHEIF_SHIM_H

#include <libheif/heif.h>
#include "../CLinux/table.h"

// libheif loads several video encoders and decoders, so only a process for HEIF loads it.
#define CAPTURE_HEIF_CALLS(CALL) \
    CALL(heif_, init) \
    CALL(heif_, context_alloc) \
    CALL(heif_, context_free) \
    CALL(heif_, context_read_from_memory_without_copy) \
    CALL(heif_, context_set_maximum_image_size_limit) \
    CALL(heif_, context_set_max_decoding_threads) \
    CALL(heif_, context_get_primary_image_ID) \
    CALL(heif_, context_get_primary_image_handle) \
    CALL(heif_, image_handle_release) \
    CALL(heif_, image_handle_get_ispe_width) \
    CALL(heif_, image_handle_get_ispe_height) \
    CALL(heif_, image_handle_get_list_of_depth_image_IDs) \
    CALL(heif_, image_handle_get_depth_image_handle) \
    CALL(heif_, image_handle_get_depth_image_representation_info) \
    CALL(heif_, depth_representation_info_free) \
    CALL(heif_, image_handle_get_list_of_metadata_block_IDs) \
    CALL(heif_, image_handle_get_metadata_type) \
    CALL(heif_, image_handle_get_metadata_content_type) \
    CALL(heif_, image_handle_get_metadata_size) \
    CALL(heif_, image_handle_get_metadata) \
    CALL(heif_, image_handle_get_raw_color_profile_size) \
    CALL(heif_, image_handle_get_raw_color_profile) \
    CALL(heif_, decode_image) \
    CALL(heif_, decoding_options_alloc) \
    CALL(heif_, decoding_options_free) \
    CALL(heif_, image_release) \
    CALL(heif_, image_get_width) \
    CALL(heif_, image_get_height) \
    CALL(heif_, image_get_colorspace) \
    CALL(heif_, image_get_bits_per_pixel_range) \
    CALL(heif_, image_get_plane_readonly)

CAPTURE_TABLE(capture_heif, CAPTURE_HEIF_CALLS)

#endif
