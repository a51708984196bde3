import CTiff
import PictureMessages

/// Decodes TIFF with one channel, or several that are equal, with libtiff.
final class TIFFDecoder {
    private var calls = capture_tiff()

    /// Loads the library; nil if it is not installed.
    init?() {
        guard unsafe capture_tiff_load(&calls, PictureLibrary.tiff.fileName) == 1 else { return nil }
    }

    /// Decodes the only picture of the file.
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
        return .malformed(text.isEmpty ? "is a damaged TIFF" : "is a damaged TIFF: \(text)")
    }

    /// How the samples lie in a file.
    private struct Form {
        let width: Int
        let height: Int
        let type: SampleType
        let channels: Channels

        /// The number of planes, and the bytes of a pixel in one of them.
        var planes: Int { channels.isPlanar ? channels.count : 1 }
        var each: Int { type.byteCount * channels.count / planes }
    }

    private func samples(
        of file: OpaquePointer, _ source: UnsafeMutablePointer<capture_tiff_bytes>, _ memory: MemoryShare
    ) throws(DecodingRefusal) -> Samples {
        let form = try unsafe form(of: file)
        let all = form.type.byteCount * form.channels.count
        guard let count = PictureLimits.bytes(width: form.width, height: form.height, each: all) else {
            throw .tooLarge
        }
        // libtiff copies a strip before it decodes it.
        let folding = form.channels.count > 1 ? count / form.channels.count : 0
        try memory.require(count + folding + Int(clamping: unsafe source.pointee.count))
        var missing: Int?
        let bytes = try unsafe [UInt8].filled(count) { target throws(DecodingRefusal) in
            missing = try unsafe read(file, source: source, memory: memory, into: target, form: form)
        }
        // If libtiff reported an error, the parts that it could read are not used either.
        guard let missing, unsafe source.pointee.message.0 == 0 else { throw unsafe Self.damage(source) }
        guard let folded = form.channels.folded(bytes) else { throw Self.channels(form.channels.count) }
        var samples = Samples(width: form.width, height: form.height, type: form.type, bytes: folded)
        samples.note(missing, "in parts that the file leaves out")
        let transparent = form.channels.transparent(bytes).count
        if transparent > 0 {
            samples.notes.append("has an alpha channel, which is left aside; \(transparent) of it are 0")
        }
        if let (number, word) = try unsafe noData(file) { samples.remove(number, "of \(word), its GDAL_NODATA") }
        return samples
    }

    /// The number that GDAL writes for samples that are missing, as text in tag 42113.
    private func noData(_ file: OpaquePointer) throws(DecodingRefusal) -> (Double, String)? {
        var count: UInt32 = 0
        guard let bytes = unsafe capture_tiff_ascii(&calls, file, 42113, &count) else { return nil }
        let text = unsafe String(decoding: UnsafeRawBufferPointer(start: bytes, count: Int(count)), as: UTF8.self)
        let word = text.pieces(by: "\0").first?.pieces(by: " ").first ?? ""
        guard let number = Double(word), word.utf8.count <= 40 else {
            throw .unsupported("has the GDAL_NODATA \"\(word.cut(to: 40))\", expected a number")
        }
        return (number, word)
    }

    private static func channels(_ count: Int) -> DecodingRefusal {
        DecodingRefusal.unsupported("is a TIFF of \(count) channels, expected one, or equal ones")
    }

    /// Finds the form, and refuses kinds of pictures that are not supported.
    private func form(of file: OpaquePointer) throws(DecodingRefusal) -> Form {
        let tag = { (tag: Int32) in Int(unsafe capture_tiff_short(&self.calls, file, UInt32(tag))) }
        let count = tag(TIFFTAG_SAMPLESPERPIXEL)
        guard (1...4).contains(count) else { throw Self.channels(count) }
        let (bits, format) = (tag(TIFFTAG_BITSPERSAMPLE), tag(TIFFTAG_SAMPLEFORMAT))
        let letters = [Int(SAMPLEFORMAT_UINT): "u", Int(SAMPLEFORMAT_INT): "i", Int(SAMPLEFORMAT_IEEEFP): "f"]
        let name = "\(letters[format] ?? "?")\(bits)"
        guard let type = SampleType.allCases.first(where: { $0.rawValue == name }) else {
            let names = ["u": "unsigned integers", "i": "signed integers", "f": "floats"]
            let words = letters[format].flatMap { names[$0] } ?? "samples of format \(format)"
            throw .unsupported(
                "is a TIFF of \(bits)-bit \(words), expected integers of 8, 16 or 32 bits or floats of 16, 32 or 64 bits"
            )
        }
        // The last channel is the transparency if the file says so.
        let extra = unsafe capture_tiff_last_extra(&calls, file)
        let hasAlpha = count > 1 && [Int32(EXTRASAMPLE_ASSOCALPHA), Int32(EXTRASAMPLE_UNASSALPHA)].contains(extra)
        let isColour = count - (hasAlpha ? 1 : 0) >= 3
        for (name, number, allowed, words) in [
            ("compression", TIFFTAG_COMPRESSION, [1, 5, 8, 32773, 32946], "none, LZW, deflate or PackBits"),
            ("fill order", TIFFTAG_FILLORDER, [Int(FILLORDER_MSB2LSB)], "1"),
            (
                "photometric interpretation", TIFFTAG_PHOTOMETRIC,
                [Int(PHOTOMETRIC_MINISBLACK)] + (isColour ? [Int(PHOTOMETRIC_RGB)] : []), "1 (black is zero)"
            ), ("orientation", TIFFTAG_ORIENTATION, [Int(ORIENTATION_TOPLEFT)], "1 (top row first)"),
        ] where !allowed.contains(tag(number)) {
            throw .unsupported("is a TIFF with \(name) \(tag(number)), expected \(words)")
        }
        guard unsafe calls.LastDirectory(file) != 0 else {
            throw .unsupported("is a TIFF with several pictures, expected one")
        }
        let width = Int(unsafe capture_tiff_long(&calls, file, UInt32(TIFFTAG_IMAGEWIDTH)))
        let height = Int(unsafe capture_tiff_long(&calls, file, UInt32(TIFFTAG_IMAGELENGTH)))
        let (pixels, isOver) = width.multipliedReportingOverflow(by: height)
        guard !isOver else { throw .tooLarge }
        return Form(
            width: width, height: height, type: type,
            channels: Channels(
                pixels: pixels, count: count, hasAlpha: hasAlpha, each: type.byteCount,
                isPlanar: tag(TIFFTAG_PLANARCONFIG) == Int(PLANARCONFIG_SEPARATE)))
    }

    /// Checks where a strip or tile lies in the file, which libtiff does not. Returns false if the file leaves it out.
    ///
    /// A deflated one is inflated to its end, because libtiff stops as soon as it has all samples, before the Adler-32.
    /// The other compressions have no check.
    ///
    /// - Parameter limit: The number of bytes of a whole strip or tile.
    private func isPresent(
        _ strile: UInt32, of file: OpaquePointer, _ source: UnsafeMutablePointer<capture_tiff_bytes>, limit: Int
    ) throws(DecodingRefusal) -> Bool {
        let offset = unsafe calls.GetStrileOffset(file, strile)
        let count = unsafe calls.GetStrileByteCount(file, strile)
        // GDAL leaves out a part without data (SPARSE_OK).
        if offset == 0 && count == 0 { return false }
        let (end, isOver) = offset.addingReportingOverflow(count)
        guard !isOver, offset > 0, count > 0, end <= (unsafe source.pointee.count) else {
            throw .malformed("is a damaged TIFF: part \(strile) is cut off, or is not in the file")
        }
        let compression = unsafe capture_tiff_short(&calls, file, UInt32(TIFFTAG_COMPRESSION))
        guard compression == COMPRESSION_ADOBE_DEFLATE || compression == COMPRESSION_DEFLATE else { return true }
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
            guard rest >= 0 else { throw .malformed("is a damaged TIFF: part \(strile) is longer than its rows") }
            if step.isFinished { return true }
            guard step.consumed + step.produced > 0 else {
                throw .malformed("is a damaged TIFF: part \(strile) is cut off")
            }
        }
    }

    /// Reads all strips or tiles. Returns the number of samples in parts that the file leaves out; nil if one is damaged.
    private func read(
        _ file: OpaquePointer, source: UnsafeMutablePointer<capture_tiff_bytes>, memory: MemoryShare,
        into target: UnsafeMutablePointer<UInt8>, form: Form
    ) throws(DecodingRefusal) -> Int? {
        let (width, height, each) = (form.width, form.height, form.each)
        let isTiled = unsafe calls.IsTiled(file) != 0
        let long = { (tag: Int32) in Int(unsafe capture_tiff_long(&self.calls, file, UInt32(tag))) }
        let rows = long(TIFFTAG_ROWSPERSTRIP)
        // Without the tag, one strip has all rows.
        let across = isTiled ? long(TIFFTAG_TILEWIDTH) : width
        let down = isTiled ? long(TIFFTAG_TILELENGTH) : rows == 0 ? height : min(rows, height)
        guard let count = PictureLimits.bytes(width: across, height: down, each: each) else { return nil }
        let strips = (height + down - 1) / down
        guard
            isTiled
                ? unsafe calls.TileSize64(file) == UInt64(count)
                : unsafe calls.NumberOfStrips(file) == UInt32(strips * form.planes)
        else { return nil }
        if isTiled {
            try memory.require(width * height * each * form.planes * (form.channels.count > 1 ? 2 : 1) + count)
        }
        var tile = [UInt8](repeating: 0, count: isTiled ? count : 0)
        var missing = 0
        for part in 0..<(strips * form.planes) {
            let (plane, top) = (part / strips, part % strips * down)
            for left in stride(from: 0, to: width, by: across) {
                let number =
                    isTiled
                    ? unsafe calls.ComputeTile(file, UInt32(left), UInt32(top), 0, UInt16(plane)) : UInt32(part)
                let (columns, lines) = (min(across, width - left), min(down, height - top))
                guard try unsafe isPresent(number, of: file, source, limit: count) else {
                    missing += plane == 0 ? columns * lines : 0
                    continue
                }
                let place = unsafe target + ((plane * height + top) * width + left) * each
                guard isTiled else {
                    let wanted = lines * width * each
                    guard unsafe calls.ReadEncodedStrip(file, number, place, Int64(wanted)) == wanted else {
                        return nil
                    }
                    continue
                }
                guard unsafe calls.ReadEncodedTile(file, number, &tile, Int64(count)) == count else { return nil }
                for row in 0..<lines {
                    for index in 0..<(columns * each) {
                        unsafe place[row * width * each + index] = tile[row * across * each + index]
                    }
                }
            }
        }
        return missing
    }
}
