import CTiff
import PictureMessages

/// Decodes TIFF with one channel, with libtiff.
final class TIFFDecoder {
    private var calls = capture_tiff()

    /// Loads the library; nil if it is not installed.
    init?() {
        guard unsafe capture_tiff_load(&calls, PictureLibrary.tiff.fileName) == 1 else { return nil }
    }

    /// Decodes the only picture of the file: unsigned integers of 8 or 16 bits, or floats of 32 bits.
    func samples(_ file: [UInt8], _ memory: MemoryShare) throws(DecodingRefusal) -> Samples {
        try unsafe file.read { bytes, count throws(DecodingRefusal) in
            var source = unsafe capture_tiff_bytes()
            unsafe source.bytes = unsafe bytes
            unsafe source.count = UInt64(count)
            // libtiff keeps a pointer to the source until the file is closed.
            let result = unsafe withUnsafeMutablePointer(to: &source) { source -> Result<Samples, DecodingRefusal> in
                guard let file = unsafe capture_tiff_open(&calls, source, Int64(PictureLimits.decodedBytes)) else {
                    return unsafe .failure(Self.damage(source))
                }
                defer { unsafe calls.Close(file) }
                return Result { () throws(DecodingRefusal) in try unsafe samples(of: file, source, memory) }
            }
            return try result.get()
        }
    }

    private static func damage(_ source: UnsafeMutablePointer<capture_tiff_bytes>) -> DecodingRefusal {
        let text = unsafe withUnsafeBytes(of: &source.pointee.message) { bytes in
            unsafe String(decoding: bytes.prefix { $0 != 0 }, as: UTF8.self)
        }
        return DecodingRefusal(.malformed, text.isEmpty ? "is a damaged TIFF" : "is a damaged TIFF: \(text)")
    }

    private func samples(
        of file: OpaquePointer, _ source: UnsafeMutablePointer<capture_tiff_bytes>, _ memory: MemoryShare
    ) throws(DecodingRefusal) -> Samples {
        let each = try unsafe bytesOfSample(file)
        let width = Int(unsafe capture_tiff_long(&calls, file, UInt32(TIFFTAG_IMAGEWIDTH)))
        let height = Int(unsafe capture_tiff_long(&calls, file, UInt32(TIFFTAG_IMAGELENGTH)))
        guard let count = PictureLimits.bytes(width: width, height: height, each: each) else { throw .tooLarge }
        // libtiff copies a strip before it decodes it.
        try memory.require(count + Int(clamping: unsafe source.pointee.count))
        let bytes = try unsafe [UInt8].filled(count) { target throws(DecodingRefusal) in
            let isWhole =
                unsafe calls.IsTiled(file) != 0
                ? try unsafe readTiles(file, source, memory, into: target, width, height, each)
                : try unsafe readStrips(file, source, into: target, width, height, each)
            guard isWhole else { throw unsafe Self.damage(source) }
        }
        // If libtiff reported an error, the parts that it could read are not used either.
        guard unsafe source.pointee.message.0 == 0 else { throw unsafe Self.damage(source) }
        return Samples(width: width, height: height, each: each, bytes: bytes)
    }

    /// Returns the number of bytes of a sample, and refuses kinds of pictures that are not supported.
    private func bytesOfSample(_ file: OpaquePointer) throws(DecodingRefusal) -> Int {
        let tag = { (tag: Int32) in Int(unsafe capture_tiff_short(&self.calls, file, UInt32(tag))) }
        let channels = tag(TIFFTAG_SAMPLESPERPIXEL)
        guard channels == 1 else {
            throw DecodingRefusal(.unsupported, "is a TIFF of \(channels) channels, expected one")
        }
        let (bits, format) = (tag(TIFFTAG_BITSPERSAMPLE), tag(TIFFTAG_SAMPLEFORMAT))
        switch (bits, format) {
        case (8, Int(SAMPLEFORMAT_UINT)), (16, Int(SAMPLEFORMAT_UINT)), (32, Int(SAMPLEFORMAT_IEEEFP)): break
        default:
            let names = [1: "unsigned integers", 2: "signed integers", 3: "floats"]
            throw DecodingRefusal(
                .unsupported,
                "is a TIFF of \(bits)-bit \(names[format] ?? "samples of format \(format)"), "
                    + "expected unsigned integers of 8 or 16 bits or floats of 32 bits")
        }
        for (name, number, allowed, words) in [
            ("compression", TIFFTAG_COMPRESSION, [1, 5, 8, 32773, 32946], "none, LZW, deflate or PackBits"),
            ("fill order", TIFFTAG_FILLORDER, [Int(FILLORDER_MSB2LSB)], "1"),
            ("photometric interpretation", TIFFTAG_PHOTOMETRIC, [Int(PHOTOMETRIC_MINISBLACK)], "1 (black is zero)"),
            ("orientation", TIFFTAG_ORIENTATION, [Int(ORIENTATION_TOPLEFT)], "1 (top row first)"),
        ] where !allowed.contains(tag(number)) {
            throw DecodingRefusal(.unsupported, "is a TIFF with \(name) \(tag(number)), expected \(words)")
        }
        guard unsafe calls.LastDirectory(file) != 0 else {
            throw DecodingRefusal(.unsupported, "is a TIFF with several pictures, expected one")
        }
        return bits / 8
    }

    /// Inflates a deflated strip or tile to its end, because libtiff stops as soon as it has all samples, before the
    /// Adler-32. The other compressions have no check.
    ///
    /// - Parameter limit: The number of bytes of a whole strip or tile.
    private func check(
        _ strile: UInt32, of file: OpaquePointer, _ source: UnsafeMutablePointer<capture_tiff_bytes>, limit: Int
    ) throws(DecodingRefusal) {
        let compression = unsafe capture_tiff_short(&calls, file, UInt32(TIFFTAG_COMPRESSION))
        guard compression == COMPRESSION_ADOBE_DEFLATE || compression == COMPRESSION_DEFLATE else { return }
        let offset = unsafe calls.GetStrileOffset(file, strile)
        let (end, isOver) = unsafe offset.addingReportingOverflow(calls.GetStrileByteCount(file, strile))
        guard !isOver, end <= (unsafe source.pointee.count) else {
            throw DecodingRefusal(.malformed, "is a damaged TIFF: part \(strile) is cut off")
        }
        var input = unsafe UnsafeRawBufferPointer(
            start: source.pointee.bytes + Int(offset), count: Int(end - offset))[...]
        let inflater = try ZlibInflater(.zlib, failure: "is a damaged TIFF: part \(strile): ")
        var rest = limit
        let output = unsafe UnsafeMutableRawBufferPointer.archiveBlock()
        defer { unsafe output.deallocate() }
        while true {
            let step = try unsafe inflater.inflate(UnsafeRawBufferPointer(rebasing: input), into: output)
            unsafe input = unsafe input.dropFirst(step.consumed)
            rest -= step.produced
            guard rest >= 0 else {
                throw DecodingRefusal(.malformed, "is a damaged TIFF: part \(strile) is longer than its rows")
            }
            if step.outcome == .finished { return }
            guard step.consumed + step.produced > 0 else {
                throw DecodingRefusal(.malformed, "is a damaged TIFF: part \(strile) is cut off")
            }
        }
    }

    private func readStrips(
        _ file: OpaquePointer, _ source: UnsafeMutablePointer<capture_tiff_bytes>,
        into target: UnsafeMutablePointer<UInt8>, _ width: Int, _ height: Int, _ each: Int
    ) throws(DecodingRefusal) -> Bool {
        let rows = unsafe capture_tiff_long(&calls, file, UInt32(TIFFTAG_ROWSPERSTRIP))
        // Without the tag, one strip has all rows.
        let rowsEach = rows == 0 ? height : min(Int(rows), height)
        let strips = (height + rowsEach - 1) / rowsEach
        guard unsafe calls.NumberOfStrips(file) == UInt32(strips) else { return false }
        for strip in 0..<strips {
            let row = strip * rowsEach
            let count = min(rowsEach, height - row) * width * each
            try unsafe check(UInt32(strip), of: file, source, limit: rowsEach * width * each)
            let read = unsafe calls.ReadEncodedStrip(file, UInt32(strip), target + row * width * each, Int64(count))
            guard read == count else { return false }
        }
        return true
    }

    private func readTiles(
        _ file: OpaquePointer, _ source: UnsafeMutablePointer<capture_tiff_bytes>, _ memory: MemoryShare,
        into target: UnsafeMutablePointer<UInt8>, _ width: Int, _ height: Int, _ each: Int
    ) throws(DecodingRefusal) -> Bool {
        let tileWidth = Int(unsafe capture_tiff_long(&calls, file, UInt32(TIFFTAG_TILEWIDTH)))
        let tileHeight = Int(unsafe capture_tiff_long(&calls, file, UInt32(TIFFTAG_TILELENGTH)))
        guard let count = PictureLimits.bytes(width: tileWidth, height: tileHeight, each: each),
            unsafe calls.TileSize64(file) == UInt64(count)
        else { return false }
        try memory.require(width * height * each + count)
        var tile = [UInt8](repeating: 0, count: count)
        for top in stride(from: 0, to: height, by: tileHeight) {
            for left in stride(from: 0, to: width, by: tileWidth) {
                let number = unsafe calls.ComputeTile(file, UInt32(left), UInt32(top), 0, 0)
                try unsafe check(number, of: file, source, limit: count)
                guard unsafe calls.ReadEncodedTile(file, number, &tile, Int64(count)) == count else { return false }
                let columns = min(tileWidth, width - left) * each
                for row in 0..<min(tileHeight, height - top) {
                    let start = row * tileWidth * each
                    for (index, byte) in tile[start..<(start + columns)].enumerated() {
                        unsafe target[((top + row) * width + left) * each + index] = byte
                    }
                }
            }
        }
        return true
    }
}
