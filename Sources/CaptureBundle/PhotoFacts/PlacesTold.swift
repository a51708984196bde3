/// Searches a file that goes into a bundle for a position.
package enum PlacesTold {
    package enum Kind: Sendable {
        case jpeg
        /// A TIFF file, or the EXIF of a HEIF file.
        case tiff
        case xmp
        case png
        /// JSON, or other text or data without a reader.
        case json
        /// Samples, such as a depth map.
        case samples
        /// A gzip, zlib or deflate file.
        case deflated
        /// A picture, an archive or a document that cannot be searched.
        case closed
    }

    /// Says for a message what in the file contains a position, such as `EXIF has GPS fields`; nil if nothing does.
    ///
    /// A picture that cannot be read as `kind` counts as telling one. Other files are then searched without their form.
    package static func tellsAPosition(_ bytes: [UInt8], kind: Kind) -> String? {
        switch kind {
        case .jpeg: inJPEG(bytes)
        case .tiff: inTIFF(bytes)
        case .xmp: XMPPacket.words(bytes)
        case .png: inPNG(bytes)
        case .json: inJSON(bytes)
        case .samples: LoosePlaces.words(bytes, isSamples: true)
        case .deflated: DeflatedPlaces.words(bytes)
        case .closed: unsearchable
        }
    }

    static let unsearchable = "it cannot be searched"

    private static func inTIFF(_ bytes: [UInt8]) -> String? {
        guard !bytes.isEmpty else { return nil }
        let header = SegmentPlaces.exifHeader
        let tiff = bytes.starts(with: header) ? Array(bytes.dropFirst(header.count)) : bytes
        guard let structure = TIFFStructure(tiff) else { return SegmentPlaces.unreadable }
        return TIFFPlaces(structure).words
    }

    private static func inJPEG(_ bytes: [UInt8]) -> String? {
        let (images, end) = MultiPictureIndex.walk(bytes)
        let rest = JPEGSegments(bytes, at: end)
        for image in images + [rest].compactMap(\.self) {
            if let found = SegmentPlaces(bytes, image).found.first { return found.words }
        }
        // This also finds a position in a thumbnail, in data after the pictures, and in a broken photo.
        if (try? JPEGStructure(bytes))?.holdsPosition ?? false { return "EXIF or XMP inside it has a position" }
        // Segments that do not lead to a scan may hide others.
        guard !images.isEmpty || rest?.scan != nil else { return unsearchable }
        guard end < bytes.count else { return nil }
        if !images.isEmpty, LoosePlaces.hasStructure(Array(bytes[end...])) { return "EXIF or TIFF follows the picture" }
        return EmbeddedPlaces.words(Array(bytes[end...]), isBinary: false).map { "it \($0)" }
    }

    private static func inJSON(_ bytes: [UInt8]) -> String? {
        guard let root = try? JSONParser.parse(bytes, nesting: BundleLimits.metadataNesting) else {
            return LoosePlaces.words(bytes)
        }
        if root["location"] != nil { return "it has the member location" }
        let name = CaptureMetadata.namesThatLookLikeAPosition(in: root).first ?? placeMember(of: root)
        return name.map { "it has the member \($0)" }
    }

    /// The first member, at any depth, whose name contains a word for coordinates, such as `gpsLatitude`.
    private static func placeMember(of value: JSONValue) -> String? {
        for member in value.members ?? [] {
            if PlaceNames.tellsPlace(member.name.utf8) { return member.name.cut(to: 100) }
            if let found = placeMember(of: member.value) { return found }
        }
        for element in value.elements ?? [] where element.isContainer {
            if let found = placeMember(of: element) { return found }
        }
        return nil
    }

    // MARK: - PNG

    static let pngSignature: [UInt8] = [0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a]

    /// Searches the chunks of EXIF and of text (PNG specification, third edition, sections 11.3.3 and 11.3.4).
    private static func inPNG(_ bytes: [UInt8]) -> String? {
        guard bytes.starts(with: pngSignature) else { return unsearchable }
        var position = pngSignature.count
        while position + 12 <= bytes.count {
            let length = bytes[position..<(position + 4)].reduce(0) { $0 << 8 | Int($1) }
            guard length <= bytes.count - position - 12 else { return unsearchable }
            let type = String(decoding: bytes[(position + 4)..<(position + 8)], as: UTF8.self)
            let data = Array(bytes[(position + 8)..<(position + 8 + length)])
            if let words = inChunk(type, data) { return words }
            position += 12 + length
        }
        return LoosePlaces.words(Array(bytes[position...]))
    }

    private static func inChunk(_ type: String, _ data: [UInt8]) -> String? {
        switch type {
        case "eXIf": return inTIFF(data)
        case "iTXt", "tEXt", "zTXt":
            let keyword = String(decoding: data.prefix { $0 != 0 }, as: UTF8.self)
            // ImageMagick stores EXIF, IPTC and XMP in chunks with such keywords, as hex digits.
            if keyword.hasPrefix("Raw profile type") {
                return "it has a \(keyword.cut(to: 40)), which may contain a position"
            }
            guard keyword == "XML:com.adobe.xmp" else {
                let flag = data.dropFirst(keyword.utf8.count + 1).first
                let isCompressed = type == "zTXt" || type == "iTXt" && flag != 0
                return isCompressed
                    ? "it has compressed text, which may contain a position" : LoosePlaces.words(data)
            }
            guard type == "iTXt", data.dropFirst(keyword.utf8.count + 1).first == 0 else {
                return "it has compressed XMP, which may contain a position"
            }
            // The text comes after the compression flag and method, the language and the translated keyword.
            var text = data.dropFirst(keyword.utf8.count + 3)
            for _ in 0..<2 { text = text.drop { $0 != 0 }.dropFirst() }
            return XMPPacket.words(Array(text))
        case "zxIf": return "it has compressed EXIF, which may contain a position"
        // Pixels, colours and a compressed colour profile.
        case "IHDR", "IDAT", "fdAT", "PLTE", "tRNS", "iCCP", "IEND": return nil
        default: return LoosePlaces.words(data, isSamples: true)
        }
    }
}
