import COpenEXR
import PictureMessages

/// Decodes OpenEXR with one channel, with OpenEXRCore. Half floats become floats without loss.
enum OpenEXRDecoder {
    /// - Parameter channel: The name of the channel to take, or its name after that of its part and a point. nil takes the
    ///   only channel; several that are equal count as one.
    static func samples(
        _ file: [UInt8], channel: String?, _ memory: MemoryShare
    ) throws(DecodingRefusal) -> Samples {
        // The library does not know all compressions, and takes an unknown one for none.
        if let code = firstCompression(file) { try OpenEXRCompression.check(code) }
        return try unsafe file.read { bytes, count throws(DecodingRefusal) in
            var source = unsafe capture_exr_bytes(bytes: bytes, count: Int64(count))
            var context: exr_context_t?
            guard unsafe capture_exr_open(&context, &source, Int32(PictureLimits.side)) == 0 else {
                unsafe exr_finish(&context)
                throw .malformed("is a damaged OpenEXR file, or has a side of more than \(PictureLimits.side) pixels")
            }
            defer { unsafe exr_finish(&context) }
            let chosen = try unsafe OpenEXRChannels(context).choose(channel)
            return try unsafe Reading(context: context, chosen: chosen).samples(memory)
        }
    }

    /// The value of the first attribute `compression`, whose type has the same name.
    private static func firstCompression(_ file: [UInt8]) -> Int? {
        let mark = Array("compression\0compression\0\u{1}\0\0\0".utf8)
        let start = file.prefix(1 << 16)
        let place = start.indices.first { start[$0] == mark[0] && start[$0...].starts(with: mark) }
        return place.flatMap { $0 + mark.count < start.count ? Int(start[$0 + mark.count]) : nil }
    }
}

/// Throws for a result code of OpenEXRCore that is not a success.
func check(_ code: exr_result_t) throws(DecodingRefusal) {
    guard code != 0 else { return }
    let text = unsafe String(library: exr_get_default_error_message(code))
    throw DecodingRefusal(
        code == EXR_ERR_OUT_OF_MEMORY.rawValue ? .tooLarge : .malformed, "is a damaged OpenEXR file: \(text)")
}

private enum OpenEXRCompression {
    /// The forms whose files OpenEXRCore 3.1 reads wrongly, or not at all.
    private static let unread = [8: "DWAA", 9: "DWAB", 10: "HTJ2K256", 11: "HTJ2K32"]

    static func check(_ code: Int) throws(DecodingRefusal) {
        guard let name = unread[code] else { return }
        throw .unsupported("is an OpenEXR file with the compression \(name), which is not read; write it with ZIP")
    }

    /// What the compression has changed in the samples.
    static func loss(_ code: exr_compression_t, isHalf: Bool) -> String? {
        switch (code, isHalf) {
        case (EXR_COMPRESSION_PXR24, false):
            "is compressed with PXR24, which keeps 24 of 32 bits: a sample may be wrong by 0.001 percent"
        case (EXR_COMPRESSION_B44, true), (EXR_COMPRESSION_B44A, true):
            "is compressed with B44, which changes samples: below 0.000062, one may have been 0 or NaN"
        default: nil
        }
    }
}

@safe
private struct Reading {
    let context: exr_const_context_t?
    let chosen: OpenEXRChannels.Choice

    private var part: Int32 { chosen.part }

    func samples(_ memory: MemoryShare) throws(DecodingRefusal) -> Samples {
        var compression = EXR_COMPRESSION_LAST_TYPE
        try check(unsafe exr_get_compression(context, part, &compression))
        var (data, display) = (exr_attr_box2i_t(), exr_attr_box2i_t())
        try check(unsafe exr_get_data_window(context, part, &data))
        try check(unsafe exr_get_display_window(context, part, &display))
        let (window, whole) = (Window(data), Window(display))
        let isCrop = whole.contains(window) && !window.contains(whole)
        guard let count = PictureLimits.bytes(width: window.width, height: window.height, each: 4),
            let all = isCrop ? PictureLimits.bytes(width: whole.width, height: whole.height, each: 4) : 0
        else { throw .tooLarge }
        var storage = EXR_STORAGE_LAST_TYPE
        try check(unsafe exr_get_storage(context, part, &storage))
        let planes = chosen.indices.count + (chosen.channels > chosen.indices.count ? 1 : 0)
        // One tile can be the whole picture. OpenEXRCore holds it compressed, inflated and put in order.
        let tiles = storage == EXR_STORAGE_TILED ? 2 * chosen.channels : 0
        try memory.require((tiles + planes + (planes > 1 ? 1 : 0)) * count + all)
        let bytes = try unsafe [UInt8].filled(planes * count) { target throws(DecodingRefusal) in
            try read(storage, into: unsafe Grid(target: target, window: window, planeBytes: count))
        }
        let layout = Channels(
            pixels: count / 4, count: chosen.indices.count, hasAlpha: false, each: 4, isPlanar: true)
        guard let floats = layout.folded(Array(bytes.prefix(chosen.indices.count * count))) else {
            throw chosen.refusal
        }
        var samples = Samples(
            width: window.width, height: window.height, type: .float32, bits: chosen.isHalf ? 16 : 0, bytes: floats)
        if isCrop { samples = samples.placed(window, in: whole) }
        if let loss = OpenEXRCompression.loss(compression, isHalf: chosen.isHalf) { samples.notes.append(loss) }
        return samples
    }

    /// Reads the picture by its blocks: runs of whole lines, or tiles.
    private func read(_ storage: exr_storage_t, into grid: Grid) throws(DecodingRefusal) {
        let isTiled = storage == EXR_STORAGE_TILED
        guard isTiled || storage == EXR_STORAGE_SCANLINE else {
            throw .unsupported("is a deep OpenEXR file, expected one value for each pixel")
        }
        var (width, height) = (Int32(grid.window.width), Int32(0))
        try check(
            isTiled
                ? unsafe exr_get_tile_sizes(context, part, 0, 0, &width, &height)
                : unsafe exr_get_scanlines_per_chunk(context, part, &height))
        guard width > 0, height > 0 else { throw .malformed("is a damaged OpenEXR file") }
        var pipeline = unsafe exr_decode_pipeline_t()
        defer { unsafe exr_decoding_destroy(context, &pipeline) }
        for y in stride(from: 0, to: grid.window.height, by: Int(height)) {
            for x in stride(from: 0, to: grid.window.width, by: Int(width)) {
                var chunk = exr_chunk_info_t()
                try check(
                    isTiled
                        ? unsafe exr_read_tile_chunk_info(
                            context, part, Int32(x) / width, Int32(y) / height, 0, 0, &chunk)
                        : unsafe exr_read_scanline_chunk_info(context, part, Int32(grid.window.top + y), &chunk))
                let place = unsafe grid.place(
                    x: x, y: isTiled ? y : Int(chunk.start_y) - grid.window.top,
                    width: isTiled ? Int(chunk.width) : grid.window.width, height: Int(chunk.height))
                try unsafe run(&pipeline, chunk: &chunk, to: place, grid: grid, isFirst: x == 0 && y == 0)
            }
        }
    }

    /// Decodes a chunk to floats at `place`. `place` is nil if the chunk would lie outside the picture.
    private func run(
        _ pipeline: inout exr_decode_pipeline_t, chunk: inout exr_chunk_info_t,
        to place: UnsafeMutablePointer<UInt8>?, grid: Grid, isFirst: Bool
    ) throws(DecodingRefusal) {
        guard let place = unsafe place else { throw .malformed("is a damaged OpenEXR file") }
        try check(
            isFirst
                ? unsafe exr_decoding_initialize(context, part, &chunk, &pipeline)
                : unsafe exr_decoding_update(context, part, &chunk, &pipeline))
        guard unsafe Int(pipeline.channel_count) == chosen.channels, let channels = unsafe pipeline.channels else {
            throw .malformed("is a damaged OpenEXR file")
        }
        // OpenEXRCore 3.1 crashes with a channel without an address, so those that are not wanted get the last plane.
        for index in 0..<chosen.channels {
            let plane = chosen.indices.firstIndex(of: index) ?? chosen.indices.count
            unsafe channels[index].decode_to_ptr = unsafe place + plane * grid.planeBytes
            unsafe channels[index].user_pixel_stride = 4
            unsafe channels[index].user_line_stride = Int32(grid.window.width * 4)
            unsafe channels[index].user_bytes_per_element = 4
            unsafe channels[index].user_data_type = UInt16(EXR_PIXEL_FLOAT.rawValue)
        }
        if isFirst { try check(unsafe exr_decoding_choose_default_routines(context, part, &pipeline)) }
        try check(unsafe exr_decoding_run(context, part, &pipeline))
    }
}

/// A window of a picture: the pixels that the file has, or those that are shown.
private struct Window {
    let left: Int
    let top: Int
    let width: Int
    let height: Int

    init(_ box: exr_attr_box2i_t) {
        (left, top) = (Int(box.min.x), Int(box.min.y))
        (width, height) = (Int(box.max.x) - left + 1, Int(box.max.y) - top + 1)
    }

    func contains(_ other: Window) -> Bool {
        left <= other.left && top <= other.top && left + width >= other.left + other.width
            && top + height >= other.top + other.height
    }
}

extension Samples {
    /// A crop as a part of the whole picture, in which the other samples are 0.
    fileprivate func placed(_ window: Window, in whole: Window) -> Samples {
        let (line, each) = (width * 4, whole.width * 4)
        var all = [UInt8](repeating: 0, count: each * whole.height)
        for row in 0..<height {
            let start = (window.top - whole.top + row) * each + (window.left - whole.left) * 4
            all.replaceSubrange(start..<(start + line), with: bytes[(row * line)..<((row + 1) * line)])
        }
        var placed = Samples(width: whole.width, height: whole.height, type: type, bits: bits, bytes: all, notes: notes)
        placed.note(whole.width * whole.height - width * height, "outside of its data window")
        return placed
    }
}

/// The buffer for the floats of a picture, one channel after the other.
@safe
private struct Grid {
    let target: UnsafeMutablePointer<UInt8>
    let window: Window
    let planeBytes: Int

    /// The address of a block's first float; nil if the block is not inside the picture.
    func place(x: Int, y: Int, width blockWidth: Int, height blockHeight: Int) -> UnsafeMutablePointer<UInt8>? {
        guard x >= 0, y >= 0, blockWidth > 0, blockHeight > 0, x + blockWidth <= window.width,
            y + blockHeight <= window.height
        else { return nil }
        return unsafe target + (y * window.width + x) * 4
    }
}
