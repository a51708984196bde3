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
    func samples(_ file: [UInt8]) throws(DecodingRefusal) -> Samples {
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
                do throws(DecodingRefusal) { return .success(try unsafe samples(of: file, source)) } catch {
                    return .failure(error)
                }
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
        of file: OpaquePointer, _ source: UnsafeMutablePointer<capture_tiff_bytes>
    ) throws(DecodingRefusal) -> Samples {
        let each = try unsafe bytesOfSample(file)
        let width = Int(unsafe capture_tiff_long(&calls, file, UInt32(TIFFTAG_IMAGEWIDTH)))
        let height = Int(unsafe capture_tiff_long(&calls, file, UInt32(TIFFTAG_IMAGELENGTH)))
        guard let count = PictureLimits.bytes(width: width, height: height, each: each) else { throw .tooLarge }
        let bytes = try unsafe [UInt8].filled(count) { target throws(DecodingRefusal) in
            let isWhole =
                unsafe calls.IsTiled(file) != 0
                ? unsafe readTiles(file, into: target, width, height, each)
                : unsafe readStrips(file, into: target, width, height, each)
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
        let compression = tag(TIFFTAG_COMPRESSION)
        guard [1, 5, 8, 32773, 32946].contains(compression) else {
            throw DecodingRefusal(
                .unsupported,
                "is a TIFF with compression \(compression), expected none, LZW, deflate or PackBits")
        }
        let photometric = tag(TIFFTAG_PHOTOMETRIC)
        guard photometric == PHOTOMETRIC_MINISBLACK else {
            throw DecodingRefusal(
                .unsupported,
                "is a TIFF with photometric interpretation \(photometric), expected 1 (black is zero)")
        }
        let orientation = tag(TIFFTAG_ORIENTATION)
        guard orientation == ORIENTATION_TOPLEFT else {
            throw DecodingRefusal(
                .unsupported, "is a TIFF with orientation \(orientation), expected 1 (top row first)")
        }
        guard unsafe calls.LastDirectory(file) != 0 else {
            throw DecodingRefusal(.unsupported, "is a TIFF with several pictures, expected one")
        }
        return bits / 8
    }

    private func readStrips(
        _ file: OpaquePointer, into target: UnsafeMutablePointer<UInt8>, _ width: Int, _ height: Int, _ each: Int
    ) -> Bool {
        let rows = unsafe capture_tiff_long(&calls, file, UInt32(TIFFTAG_ROWSPERSTRIP))
        // Without the tag, one strip has all rows.
        let rowsEach = rows == 0 ? height : min(Int(rows), height)
        let strips = (height + rowsEach - 1) / rowsEach
        guard unsafe calls.NumberOfStrips(file) == UInt32(strips) else { return false }
        for strip in 0..<strips {
            let row = strip * rowsEach
            let count = min(rowsEach, height - row) * width * each
            let read = unsafe calls.ReadEncodedStrip(file, UInt32(strip), target + row * width * each, Int64(count))
            guard read == count else { return false }
        }
        return true
    }

    private func readTiles(
        _ file: OpaquePointer, into target: UnsafeMutablePointer<UInt8>, _ width: Int, _ height: Int, _ each: Int
    ) -> Bool {
        let tileWidth = Int(unsafe capture_tiff_long(&calls, file, UInt32(TIFFTAG_TILEWIDTH)))
        let tileHeight = Int(unsafe capture_tiff_long(&calls, file, UInt32(TIFFTAG_TILELENGTH)))
        guard let count = PictureLimits.bytes(width: tileWidth, height: tileHeight, each: each),
            unsafe calls.TileSize64(file) == UInt64(count)
        else { return false }
        var tile = [UInt8](repeating: 0, count: count)
        for top in stride(from: 0, to: height, by: tileHeight) {
            for left in stride(from: 0, to: width, by: tileWidth) {
                let number = unsafe calls.ComputeTile(file, UInt32(left), UInt32(top), 0, 0)
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
