/// Searches a file that goes into a bundle for a position.
package enum PlacesTold {
    package enum Kind: Sendable {
        case jpeg
        /// A TIFF file, or the EXIF of a HEIF file.
        case tiff
        case xmp
        case png
        case json
    }

    /// Says for a message what in the file contains a position, such as `EXIF has GPS fields`; nil if nothing does.
    ///
    /// A file that cannot be read as `kind` is searched for the words of `PlaceNames`.
    package static func tellsAPosition(_ bytes: [UInt8], kind: Kind) -> String? {
        switch kind {
        case .jpeg: inJPEG(bytes)
        case .tiff: inTIFF(bytes)
        case .xmp: XMPPacket.words(bytes)
        case .png: inPNG(bytes)
        case .json: inJSON(bytes)
        }
    }

    private static func inWords(_ bytes: some Sequence<UInt8>) -> String? {
        PlaceNames.tellsPlace(bytes) ? "it names a latitude, a longitude or GPS data" : nil
    }

    private static func inTIFF(_ bytes: [UInt8]) -> String? {
        let header = SegmentPlaces.exifHeader
        let tiff = bytes.starts(with: header) ? Array(bytes.dropFirst(header.count)) : bytes
        guard let structure = TIFFStructure(tiff) else {
            return SegmentPlaces.beginsAsTIFF(tiff[...]) ? SegmentPlaces.unreadable : inWords(bytes)
        }
        return TIFFPlaces(structure).words
    }

    private static func inJPEG(_ bytes: [UInt8]) -> String? {
        let (images, end) = MultiPictureIndex.walk(bytes)
        for image in images {
            if let found = SegmentPlaces(bytes, image).found.first { return found.words }
        }
        // This also finds a position in a thumbnail, in data after the pictures, and in a broken photo.
        if (try? JPEGStructure(bytes))?.holdsPosition ?? false { return "EXIF or XMP inside it has a position" }
        return end < bytes.count ? inWords(bytes[end...]) : nil
    }

    private static func inJSON(_ bytes: [UInt8]) -> String? {
        guard let root = try? JSONParser.parse(bytes, nesting: BundleLimits.metadataNesting) else {
            return inWords(bytes)
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
        guard bytes.starts(with: pngSignature) else { return inWords(bytes) }
        var position = pngSignature.count
        while position + 12 <= bytes.count {
            let length = bytes[position..<(position + 4)].reduce(0) { $0 << 8 | Int($1) }
            guard length <= bytes.count - position - 12 else { return inWords(bytes[position...]) }
            let type = String(decoding: bytes[(position + 4)..<(position + 8)], as: UTF8.self)
            let data = Array(bytes[(position + 8)..<(position + 8 + length)])
            if let words = inChunk(type, data) { return words }
            position += 12 + length
        }
        return inWords(bytes[position...])
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
            guard keyword == "XML:com.adobe.xmp" else { return inWords(data) }
            guard type == "iTXt", data.dropFirst(keyword.utf8.count + 1).first == 0 else {
                return "it has compressed XMP, which may contain a position"
            }
            // The text comes after the compression flag and method, the language and the translated keyword.
            var text = data.dropFirst(keyword.utf8.count + 3)
            for _ in 0..<2 { text = text.drop { $0 != 0 }.dropFirst() }
            return XMPPacket.words(Array(text))
        default: return nil
        }
    }
}
