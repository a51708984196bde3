import COpenEXR
import PictureMessages

/// Decodes OpenEXR with one channel, with OpenEXRCore. Half floats become floats without loss.
enum OpenEXRDecoder {
    static func samples(_ file: [UInt8], _ memory: MemoryShare) throws(DecodingRefusal) -> Samples {
        try unsafe file.read { bytes, count throws(DecodingRefusal) in
            var source = unsafe capture_exr_bytes(bytes: bytes, count: Int64(count))
            var context: exr_context_t?
            guard unsafe capture_exr_open(&context, &source, Int32(PictureLimits.side)) == 0 else {
                unsafe exr_finish(&context)
                throw DecodingRefusal(
                    .malformed, "is a damaged OpenEXR file, or has a side of more than \(PictureLimits.side) pixels")
            }
            defer { unsafe exr_finish(&context) }
            return try unsafe Reading(context: context).samples(memory)
        }
    }
}

@safe
private struct Reading {
    let context: exr_const_context_t?

    private func check(_ code: exr_result_t) throws(DecodingRefusal) {
        guard code != 0 else { return }
        let text = unsafe String(library: exr_get_default_error_message(code))
        throw DecodingRefusal(
            code == EXR_ERR_OUT_OF_MEMORY.rawValue ? .tooLarge : .malformed, "is a damaged OpenEXR file: \(text)")
    }

    func samples(_ memory: MemoryShare) throws(DecodingRefusal) -> Samples {
        var parts: Int32 = 0
        try check(unsafe exr_get_count(context, &parts))
        guard parts == 1 else {
            throw DecodingRefusal(.unsupported, "is an OpenEXR file of \(parts) parts, expected one")
        }
        try checkChannel()
        var window = exr_attr_box2i_t()
        try check(unsafe exr_get_data_window(context, 0, &window))
        let (left, top) = (Int(window.min.x), Int(window.min.y))
        let (width, height) = (Int(window.max.x) - left + 1, Int(window.max.y) - top + 1)
        guard let count = PictureLimits.bytes(width: width, height: height, each: 4) else { throw .tooLarge }
        var storage = EXR_STORAGE_LAST_TYPE
        try check(unsafe exr_get_storage(context, 0, &storage))
        // One tile can be the whole picture. OpenEXRCore holds it compressed, inflated and put in order.
        try memory.require(storage == EXR_STORAGE_TILED ? 3 * count : count)
        let bytes = try unsafe [UInt8].filled(count) { target throws(DecodingRefusal) in
            let grid = unsafe Grid(target: target, width: width, height: height, left: left, top: top)
            try read(storage, into: grid)
        }
        return Samples(width: width, height: height, each: 4, bytes: bytes)
    }

    /// Refuses files that do not have exactly one channel of floats. The name of the channel is not checked, because apps
    /// use different names.
    private func checkChannel() throws(DecodingRefusal) {
        var list: UnsafePointer<exr_attr_chlist_t>?
        try check(unsafe exr_get_channels(context, 0, &list))
        guard let list = unsafe list?.pointee, unsafe list.num_channels > 0, let entries = unsafe list.entries else {
            throw DecodingRefusal(.malformed, "is an OpenEXR file without a channel")
        }
        let channels = unsafe UnsafeBufferPointer(start: entries, count: Int(list.num_channels))
        guard channels.count == 1, let channel = unsafe channels.first else {
            let names = unsafe channels.prefix(16).map { unsafe String(library: $0.name.str) }
            throw DecodingRefusal(
                .unsupported,
                "is an OpenEXR file of \(channels.count) channels (\(names.joined(separator: ", "))), expected one"
            )
        }
        guard unsafe channel.pixel_type != EXR_PIXEL_UINT else {
            throw DecodingRefusal(.unsupported, "is an OpenEXR file of integers, expected half or float")
        }
        guard unsafe channel.x_sampling == 1, unsafe channel.y_sampling == 1 else {
            throw DecodingRefusal(.unsupported, "is an OpenEXR file whose channel has fewer samples than pixels")
        }
    }

    /// Reads the picture by its blocks: runs of whole lines, or tiles.
    private func read(_ storage: exr_storage_t, into grid: Grid) throws(DecodingRefusal) {
        let isTiled = storage == EXR_STORAGE_TILED
        guard isTiled || storage == EXR_STORAGE_SCANLINE else {
            throw DecodingRefusal(.unsupported, "is a deep OpenEXR file, expected one value for each pixel")
        }
        var (width, height) = (Int32(grid.width), Int32(0))
        try check(
            isTiled
                ? unsafe exr_get_tile_sizes(context, 0, 0, 0, &width, &height)
                : unsafe exr_get_scanlines_per_chunk(context, 0, &height))
        guard width > 0, height > 0 else { throw DecodingRefusal(.malformed, "is a damaged OpenEXR file") }
        var pipeline = unsafe exr_decode_pipeline_t()
        defer { unsafe exr_decoding_destroy(context, &pipeline) }
        for y in stride(from: 0, to: grid.height, by: Int(height)) {
            for x in stride(from: 0, to: grid.width, by: Int(width)) {
                var chunk = exr_chunk_info_t()
                try check(
                    isTiled
                        ? unsafe exr_read_tile_chunk_info(context, 0, Int32(x) / width, Int32(y) / height, 0, 0, &chunk)
                        : unsafe exr_read_scanline_chunk_info(context, 0, Int32(grid.top + y), &chunk))
                let place = unsafe grid.place(
                    x: x, y: isTiled ? y : Int(chunk.start_y) - grid.top,
                    width: isTiled ? Int(chunk.width) : grid.width, height: Int(chunk.height))
                try unsafe run(&pipeline, &chunk, place, grid, isFirst: x == 0 && y == 0)
            }
        }
    }

    /// Decodes a chunk to floats at `place`. `place` is nil if the chunk would lie outside the picture.
    private func run(
        _ pipeline: inout exr_decode_pipeline_t, _ chunk: inout exr_chunk_info_t,
        _ place: UnsafeMutablePointer<UInt8>?, _ grid: Grid, isFirst: Bool
    ) throws(DecodingRefusal) {
        guard let place = unsafe place else { throw DecodingRefusal(.malformed, "is a damaged OpenEXR file") }
        try check(
            isFirst
                ? unsafe exr_decoding_initialize(context, 0, &chunk, &pipeline)
                : unsafe exr_decoding_update(context, 0, &chunk, &pipeline))
        guard unsafe pipeline.channel_count == 1, let channel = unsafe pipeline.channels else {
            throw DecodingRefusal(.malformed, "is a damaged OpenEXR file")
        }
        unsafe channel.pointee.decode_to_ptr = unsafe place
        unsafe channel.pointee.user_pixel_stride = 4
        unsafe channel.pointee.user_line_stride = Int32(grid.width * 4)
        unsafe channel.pointee.user_bytes_per_element = 4
        unsafe channel.pointee.user_data_type = UInt16(EXR_PIXEL_FLOAT.rawValue)
        if isFirst { try check(unsafe exr_decoding_choose_default_routines(context, 0, &pipeline)) }
        try check(unsafe exr_decoding_run(context, 0, &pipeline))
    }
}

/// The buffer for the floats of a picture.
@safe
private struct Grid {
    let target: UnsafeMutablePointer<UInt8>
    let width: Int
    let height: Int
    /// The first column and row of the data window.
    let left: Int
    let top: Int

    /// The address of a block's first float; nil if the block is not inside the picture.
    func place(x: Int, y: Int, width blockWidth: Int, height blockHeight: Int) -> UnsafeMutablePointer<UInt8>? {
        guard x >= 0, y >= 0, blockWidth > 0, blockHeight > 0, x + blockWidth <= width, y + blockHeight <= height else {
            return nil
        }
        return unsafe target + (y * width + x) * 4
    }
}
