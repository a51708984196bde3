import CHeif
import PictureMessages

/// Decodes HEIF photos with a depth picture (portrait HEIC), with libheif.
///
/// Pictures are cropped as the file says, but not turned or mirrored. The depth picture has the orientation of the coded
/// photo.
final class HEIFDecoder {
    private var calls = capture_heif()

    /// Loads the library; nil if it is not installed.
    init?() {
        guard unsafe capture_heif_load(&calls, PictureLibrary.heif.fileName) == 1 else { return nil }
        // This registers the codecs, which may read files, so it happens before the sandbox closes.
        _ = unsafe calls.`init`(nil)
    }

    /// Decodes a file to the parts of an answer. The photo is one of them only if `encoder` is given.
    func parts(
        _ file: [UInt8], _ memory: MemoryShare, encoder: JPEGDecoder?
    ) throws(DecodingRefusal) -> [AnswerPart] {
        try unsafe file.read { bytes, count throws(DecodingRefusal) in
            guard let context = unsafe calls.context_alloc() else { throw .tooLarge }
            defer { unsafe calls.context_free(context) }
            unsafe calls.context_set_maximum_image_size_limit(context, Int32(PictureLimits.side))
            unsafe calls.context_set_max_decoding_threads(context, 0)
            try unsafe Self.check(calls.context_read_from_memory_without_copy(context, bytes, count, nil))
            var primary: OpaquePointer?
            try unsafe Self.check(calls.context_get_primary_image_handle(context, &primary))
            guard let primary = unsafe primary else { throw Self.damage }
            defer { unsafe calls.image_handle_release(primary) }
            var id: heif_item_id = 0
            try unsafe Self.check(calls.context_get_primary_image_ID(context, &id))
            try memory.require(try unsafe coded(primary) * (encoder == nil ? 0 : Self.bytesOfPixel))
            var parts: [AnswerPart] = []
            if let exif = try unsafe exif(primary) { parts.append(AnswerPart(.exif, exif)) }
            parts += try unsafe depthParts(of: primary, file: file, memory: memory)
            guard let encoder else { return parts }
            let photo = try unsafe pixels(primary, HEIFAperture.find(Int(id), in: file))
            let jpeg = JPEGProfile.insert(unsafe profile(primary), into: try encoder.encode(photo, quality: 95))
            let turn = HEIFAperture.orientation(of: Int(id), in: file)
            return parts + [AnswerPart(.file, jpeg, detail: turn, width: photo.width, height: photo.height)]
        }
    }

    // MARK: Metadata

    /// The number of pixels of the coded picture.
    private func coded(_ image: OpaquePointer) throws(DecodingRefusal) -> Int {
        let width = Int(unsafe calls.image_handle_get_ispe_width(image))
        let height = Int(unsafe calls.image_handle_get_ispe_height(image))
        guard let count = PictureLimits.bytes(width: width, height: height, each: 1) else { throw .tooLarge }
        return count
    }

    /// The memory for a pixel while it is decoded: in libde265, in libheif as YCbCr and as RGB, and in our own copy.
    private static let bytesOfPixel = 12

    /// The EXIF, beginning with its TIFF header. In the file, the offset of this header comes first, then the bytes that
    /// the offset skips.
    private func exif(_ image: OpaquePointer) throws(DecodingRefusal) -> [UInt8]? {
        guard let block = try unsafe metadata(image, isWanted: { type, _ in type == "Exif" }), block.count > 4 else {
            return nil
        }
        let offset = block[..<4].reduce(0) { $0 << 8 | Int($1) }
        return offset < block.count - 4 ? Array(block[(4 + offset)...]) : nil
    }

    private func xmp(_ image: OpaquePointer) throws(DecodingRefusal) -> [UInt8]? {
        try unsafe metadata(image) { type, content in type == "mime" && content == "application/rdf+xml" }
    }

    private func metadata(
        _ image: OpaquePointer, isWanted: (_ type: String, _ content: String) -> Bool
    ) throws(DecodingRefusal) -> [UInt8]? {
        var ids = [heif_item_id](repeating: 0, count: 64)
        let count = unsafe calls.image_handle_get_list_of_metadata_block_IDs(image, nil, &ids, Int32(ids.count))
        for id in ids.prefix(Int(max(0, count))) {
            let type = unsafe String(library: calls.image_handle_get_metadata_type(image, id))
            let content = unsafe String(library: calls.image_handle_get_metadata_content_type(image, id))
            guard isWanted(type, content) else { continue }
            let size = unsafe calls.image_handle_get_metadata_size(image, id)
            guard size <= PictureLimits.metadataBytes else { throw .tooLarge }
            return try unsafe [UInt8].filled(size) { target throws(DecodingRefusal) in
                try unsafe Self.check(calls.image_handle_get_metadata(image, id, target))
            }
        }
        return nil
    }

    /// The ICC profile; empty if the file has none.
    private func profile(_ image: OpaquePointer) -> [UInt8] {
        let size = unsafe calls.image_handle_get_raw_color_profile_size(image)
        guard (1...PictureLimits.metadataBytes).contains(size) else { return [] }
        var isRead = false
        let bytes = unsafe [UInt8].filled(size) { target in
            isRead = unsafe calls.image_handle_get_raw_color_profile(image, target).code == heif_error_Ok
        }
        return isRead ? bytes : []
    }

    // MARK: Pictures

    /// The depth picture's samples, facts and XMP; empty if the file has none.
    private func depthParts(
        of primary: OpaquePointer, file: [UInt8], memory: MemoryShare
    ) throws(DecodingRefusal) -> [AnswerPart] {
        var id: heif_item_id = 0
        guard unsafe calls.image_handle_get_list_of_depth_image_IDs(primary, &id, 1) > 0 else { return [] }
        var handle: OpaquePointer?
        try unsafe Self.check(calls.image_handle_get_depth_image_handle(primary, id, &handle))
        guard let handle = unsafe handle else { throw Self.damage }
        defer { unsafe calls.image_handle_release(handle) }
        try memory.require(try unsafe coded(handle) * Self.bytesOfPixel)
        let depth = try unsafe grey(handle, HEIFAperture.find(Int(id), in: file))
        var parts = depth.parts + [AnswerPart(.depthFacts, unsafe facts(primary, id).bytes)]
        if let xmp = try unsafe xmp(handle) { parts.append(AnswerPart(.depthXMP, xmp)) }
        return parts
    }

    private func facts(_ primary: OpaquePointer, _ id: heif_item_id) -> HEIFDepthFacts {
        var facts = HEIFDepthFacts()
        var pointer: UnsafePointer<heif_depth_representation_info>?
        guard unsafe calls.image_handle_get_depth_image_representation_info(primary, id, &pointer) != 0,
            let info = unsafe pointer?.pointee
        else { return facts }
        defer { unsafe calls.depth_representation_info_free(pointer) }
        facts.representation =
            switch unsafe info.depth_representation_type {
            case heif_depth_representation_type_uniform_inverse_Z: .uniformInverseZ
            case heif_depth_representation_type_uniform_disparity: .uniformDisparity
            case heif_depth_representation_type_uniform_Z: .uniformZ
            case heif_depth_representation_type_nonuniform_disparity: .nonuniformDisparity
            default: .unknown
            }
        if unsafe info.has_d_min != 0 { facts.minimum = unsafe info.d_min }
        if unsafe info.has_d_max != 0 { facts.maximum = unsafe info.d_max }
        return facts
    }

    private func pixels(_ handle: OpaquePointer, _ aperture: HEIFAperture?) throws(DecodingRefusal) -> PixelImage {
        try unsafe decoded(handle, heif_colorspace_RGB, heif_chroma_interleaved_RGB) { image throws(DecodingRefusal) in
            let (width, height, rgb) = try unsafe plane(image, heif_channel_interleaved, each: 3, aperture: aperture)
            return try PixelImage(width, height, rgb)
        }
    }

    private func grey(_ handle: OpaquePointer, _ aperture: HEIFAperture?) throws(DecodingRefusal) -> Samples {
        try unsafe decoded(handle, heif_colorspace_undefined, heif_chroma_undefined) { image throws(DecodingRefusal) in
            switch unsafe calls.image_get_colorspace(image) {
            case heif_colorspace_monochrome, heif_colorspace_YCbCr:
                return try unsafe samples(image, heif_channel_Y, in: aperture)
            case heif_colorspace_RGB:
                // libheif 1.15 puts a grid of grey tiles together as RGB.
                let red = try unsafe samples(image, heif_channel_R, in: aperture)
                for channel in [heif_channel_G, heif_channel_B] {
                    guard try unsafe samples(image, channel, in: aperture).bytes == red.bytes else { throw Self.colour }
                }
                return red
            default: throw Self.colour
            }
        }
    }

    private static let colour = DecodingRefusal.unsupported("is a HEIF file whose depth picture is in colour")

    private func samples(
        _ image: OpaquePointer, _ channel: heif_channel, in aperture: HEIFAperture?
    ) throws(DecodingRefusal) -> Samples {
        let each = unsafe calls.image_get_bits_per_pixel_range(image, channel) > 8 ? 2 : 1
        let (width, height, bytes) = try unsafe plane(image, channel, each: each, aperture: aperture)
        return Samples(width: width, height: height, type: each == 2 ? .uint16 : .uint8, bytes: bytes)
    }

    private func decoded<Value>(
        _ handle: OpaquePointer, _ space: heif_colorspace, _ chroma: heif_chroma,
        _ body: (OpaquePointer) throws(DecodingRefusal) -> Value
    ) throws(DecodingRefusal) -> Value {
        guard let options = unsafe calls.decoding_options_alloc() else { throw .tooLarge }
        defer { unsafe calls.decoding_options_free(options) }
        unsafe options.pointee.ignore_transformations = 1
        unsafe options.pointee.convert_hdr_to_8bit = space == heif_colorspace_RGB ? 1 : 0
        unsafe options.pointee.strict_decoding = 1
        var image: OpaquePointer?
        try unsafe Self.check(calls.decode_image(handle, &image, space, chroma, options))
        guard let image = unsafe image else { throw Self.damage }
        defer { unsafe calls.image_release(image) }
        return try unsafe body(image)
    }

    /// The size and the bytes of the part of a channel that is shown.
    private func plane(
        _ image: OpaquePointer, _ channel: heif_channel, each: Int, aperture: HEIFAperture?
    ) throws(DecodingRefusal) -> (width: Int, height: Int, bytes: [UInt8]) {
        let width = Int(unsafe calls.image_get_width(image, channel))
        let height = Int(unsafe calls.image_get_height(image, channel))
        guard let count = PictureLimits.bytes(width: width, height: height, each: each) else { throw .tooLarge }
        let (columns, lines) = try aperture?.place(inWidth: width, height: height) ?? (0..<width, 0..<height)
        var stride: Int32 = 0
        guard let plane = unsafe calls.image_get_plane_readonly(image, channel, &stride), Int(stride) >= width * each
        else { throw Self.damage }
        var bytes: [UInt8] = []
        bytes.reserveCapacity(count)
        for row in lines {
            let start = unsafe plane + row * Int(stride) + columns.lowerBound * each
            unsafe bytes.append(contentsOf: UnsafeBufferPointer(start: start, count: columns.count * each))
        }
        return (columns.count, lines.count, bytes)
    }

    // MARK: Errors

    private static let damage = DecodingRefusal.malformed("is a damaged HEIF file")

    private static func check(_ error: heif_error) throws(DecodingRefusal) {
        guard unsafe error.code != heif_error_Ok else { return }
        let text = unsafe String(library: error.message)
        switch unsafe error.code {
        case heif_error_Unsupported_feature, heif_error_Unsupported_filetype:
            throw .unsupported("is a HEIF file of a kind that libheif cannot read: \(text)")
        case heif_error_Memory_allocation_error: throw .tooLarge
        default: throw .malformed("is a damaged HEIF file: \(text)")
        }
    }
}
