import CaptureNative

/// Searches bytes whose form is not known for a position: EXIF and TIFF at any place, words, and names of coordinates.
enum LoosePlaces {
    /// Says for a message what in the bytes may tell a position; nil if nothing does.
    ///
    /// - Parameter isSamples: Whether the file has samples according to its name. Then words of four bytes do not count
    ///   in binary data, because samples contain them by chance.
    static func words(_ bytes: [UInt8], isSamples: Bool = false) -> String? {
        let isText = bytes.allSatisfy { $0 >= 0x20 && $0 != 0x7f || [0, 0x09, 0x0a, 0x0d].contains($0) }
        if hasStructure(bytes) { return "it contains EXIF or TIFF, which may tell a place" }
        if let words = EmbeddedPlaces.words(bytes, isBinary: isSamples && !isText) { return "it \(words)" }
        return name(in: bytes.filter { $0 != 0 }, isText: isText).map { "it has the name \($0)" }
    }

    /// Whether the header of EXIF, or that of TIFF with a first directory inside the bytes, is anywhere in the bytes.
    static func hasStructure(_ bytes: [UInt8]) -> Bool {
        if ByteSearch.first(SegmentPlaces.exifHeader, in: bytes.span, from: 0) != nil { return true }
        return [TIFFHeader.little, TIFFHeader.big].contains { $0.first(in: bytes, from: 0) != nil }
    }

    // MARK: - Names

    /// The first name of a position (Spec/capture-bundle.md section 6) that is a quoted word. In text, it can also be an
    /// attribute, an element, the name of a value, or a column head.
    private static func name(in bytes: [UInt8], isText: Bool) -> String? {
        var position = 0
        while position < bytes.count {
            let start = position
            while position < bytes.count, isLetter(bytes[position]) { position += 1 }
            if (3...64).contains(position - start), isNamed(bytes, start..<position, isText: isText) {
                return String(decoding: bytes[start..<position], as: UTF8.self)
            }
            position = max(position, start + 1)
        }
        return nil
    }

    private static func isLetter(_ byte: UInt8) -> Bool {
        switch byte {
        case 0x30...0x39, 0x41...0x5a, 0x61...0x7a, UInt8(ascii: "_"), UInt8(ascii: "-"): true
        default: false
        }
    }

    private static func isNamed(_ bytes: [UInt8], _ range: Range<Int>, isText: Bool) -> Bool {
        let newline = UInt8(ascii: "\n")
        let before = range.lowerBound > 0 ? bytes[range.lowerBound - 1] : newline
        let after = range.upperBound < bytes.count ? bytes[range.upperBound] : newline
        let isQuoted = before == after && "\"'".utf8.contains(before)
        guard isText || isQuoted else { return false }
        let name = String(decoding: bytes[range], as: UTF8.self)
        let isElement = before == UInt8(ascii: "<") || after == UInt8(ascii: ">")
        if isElement, ["gpx", "kml"].contains(name) { return true }
        guard CaptureMetadata.looksLikeAPosition(name) else { return false }
        // These three words stand for nothing else, also in columns with spaces between them.
        if isQuoted || isElement || ["lat", "lon", "lng"].contains(name.lowercased()) { return true }
        let last = bytes[..<range.lowerBound].last { $0 != 0x20 } ?? newline
        let next = bytes[range.upperBound...].first { $0 != 0x20 } ?? newline
        if "=:".utf8.contains(next) { return true }
        return ",;\t|\r\n".utf8.contains(last) && ",;\t|\r\n".utf8.contains(next)
    }
}

/// A gzip, zlib or deflate file, which is searched after it was inflated.
enum DeflatedPlaces {
    /// Says for a message what in the file may tell a position; nil if nothing does.
    static func words(_ bytes: [UInt8]) -> String? {
        guard let inside = inflated(bytes) else { return PlacesTold.unsearchable }
        return LoosePlaces.words(bytes, isSamples: true) ?? LoosePlaces.words(inside, isSamples: true)
    }

    /// The whole contents; nil if they are broken or too large, or if more than a checksum follows them.
    private static func inflated(_ bytes: [UInt8]) -> [UInt8]? {
        let isGzip = bytes.starts(with: [0x1f, 0x8b, 8])
        // The header of gzip has 10 bytes, and a name up to its NUL if flag 8 is set.
        guard !isGzip || bytes.count > 10 && bytes[3] & ~8 == 0 else { return nil }
        var position = isGzip ? 10 : bytes.first == 0x78 ? 2 : 0
        if isGzip, bytes[3] == 8 {
            guard let end = bytes[10...].firstIndex(of: 0) else { return nil }
            position = end + 1
        }
        guard position < bytes.count, let inflater = try? Inflater() else { return nil }
        var (contents, output): ([UInt8], [UInt8]) = ([], [UInt8](repeating: 0, count: 1 << 16))
        while contents.count <= FileLimits.carried {
            let rest = bytes.span.extracting(droppingFirst: position)
            guard let step = try? inflater.inflate(rest, into: &output) else { return nil }
            position += step.consumed
            contents += output[..<step.produced]
            switch step.outcome {
            case .finished: return bytes.count - position <= 8 ? contents : nil
            case .outputFull, .blockEnded: continue
            case .needsInput where step.consumed > 0 || step.produced > 0: continue
            case .needsInput, .corrupt: return nil
            }
        }
        return nil
    }
}
