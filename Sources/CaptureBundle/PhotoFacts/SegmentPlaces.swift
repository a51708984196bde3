/// Finds the segments of a JPEG image that contain a position or name a place.
struct SegmentPlaces {
    enum Kind { case exif, xmp, extendedXMP, other }

    struct Found {
        let segment: JPEGSegments.Segment
        let kind: Kind
        let words: String
    }

    private(set) var found: [Found] = []

    static let exifHeader = Array("Exif\0\0".utf8)
    static let unreadable = "EXIF that cannot be read may tell a place"
    /// The header of a part of a JUMBF box (ISO 19566-5 annex D): `JP`, a number of 2 bytes for the box, and a number of
    /// 4 bytes for the part. C2PA is kept so.
    private static let boxHeader = Array("JP".utf8)
    private static let boxHeaderLength = 8
    /// Segments of binary data: the colour profile and the index of pictures.
    private static let binary = ["ICC_PROFILE\0", "MPF\0"].map { Array($0.utf8) }

    init(_ jpeg: [UInt8], _ image: JPEGSegments) {
        for segment in image.segments where Self.isFree(segment.marker) {
            let data = jpeg[segment.data]
            let isPart =
                segment.marker == 0xe1 && data.starts(with: XMPPacket.extensionHeader)
                || segment.marker == 0xeb && data.starts(with: Self.boxHeader)
            if isPart { continue }
            if let (kind, words) = Self.look(segment.marker, data) {
                found.append(Found(segment: segment, kind: kind, words: words))
            }
        }
        addExtended(jpeg, image)
        addBoxes(jpeg, image)
    }

    /// Whether a segment with this marker may contain any data: those of applications, of extensions, and comments (T.81
    /// table B.1). JPEG-LS has a frame at 0xf7.
    private static func isFree(_ marker: UInt8) -> Bool { (0xe0...0xfe).contains(marker) && marker != 0xf7 }

    /// Whether a name of EXIF begins in the first 16 bytes, but not as `Exif` 00 00 and a TIFF structure.
    private static func hasUnusualHeader(_ data: ArraySlice<UInt8>) -> Bool {
        let start = data.prefix(16).map { (0x41...0x5a).contains($0) ? $0 | 0x20 : $0 }
        guard start.indices.contains(where: { start[$0...].starts(with: "exif".utf8) }) else { return false }
        return !data.starts(with: exifHeader) || TIFFStructure(Array(data.dropFirst(exifHeader.count))) == nil
    }

    private static func look(_ marker: UInt8, _ data: ArraySlice<UInt8>) -> (Kind, String)? {
        if marker == 0xe1, hasUnusualHeader(data) { return (.other, unreadable) }
        if marker == 0xe1, data.starts(with: exifHeader) {
            guard let tiff = TIFFStructure(Array(data.dropFirst(exifHeader.count))) else { return (.other, unreadable) }
            return TIFFPlaces(tiff).words.map { (.exif, $0) }
        }
        if marker == 0xe1, data.starts(with: XMPPacket.segmentHeader) {
            return XMPPacket.words(Array(data.dropFirst(XMPPacket.segmentHeader.count))).map { (.xmp, $0) }
        }
        return other(marker, data).map { (.other, $0) }
    }

    private static func other(_ marker: UInt8, _ data: ArraySlice<UInt8>) -> String? {
        let bytes = Array(data)
        let name = marker < 0xf0 ? "APP\(marker - 0xe0)" : marker == 0xfe ? "a comment" : "a segment"
        let isResources = marker == 0xed && data.starts(with: PhotoshopResources.header)
        let isBinary = isResources || marker == 0xe2 && binary.contains { data.starts(with: $0) }
        if isResources, let words = PhotoshopResources.words(Array(bytes.dropFirst(PhotoshopResources.header.count))) {
            return words
        }
        if marker == 0xe1, data.starts(with: "http".utf8), PlaceNames.mayTellPlace(data) {
            return "APP1 may name a place"
        }
        if !isBinary, LoosePlaces.hasStructure(bytes) { return "\(name) contains EXIF or TIFF" }
        return EmbeddedPlaces.words(bytes, isBinary: isBinary).map { "\(name) \($0)" }
    }

    /// Searches all parts of extended XMP together, because a name may be split between two of them.
    private mutating func addExtended(_ jpeg: [UInt8], _ image: JPEGSegments) {
        let parts = image.segments.filter { $0.marker == 0xe1 && jpeg[$0.data].starts(with: XMPPacket.extensionHeader) }
        let text = parts.flatMap { jpeg[$0.data].dropFirst(XMPPacket.extensionHeaderLength) }
        guard !text.isEmpty, let words = XMPPacket.words(text) else { return }
        found += parts.map { Found(segment: $0, kind: .extendedXMP, words: words) }
    }

    /// All parts of JUMBF boxes count together as well. Each part repeats the header of its box, of 8 bytes or of 16.
    private mutating func addBoxes(_ jpeg: [UInt8], _ image: JPEGSegments) {
        let parts = image.segments.filter { $0.marker == 0xeb && jpeg[$0.data].starts(with: Self.boxHeader) }
        var boxes: [[UInt8]: [UInt8]] = [:]
        for part in parts {
            let head = jpeg[part.data].prefix(Self.boxHeaderLength + 4)
            let length = head.dropFirst(Self.boxHeaderLength)
            let repeated = length.elementsEqual([0, 0, 0, 1]) ? 16 : 8
            boxes[Array(head.dropFirst(2).prefix(2)), default: []] += jpeg[part.data].dropFirst(
                Self.boxHeaderLength + repeated)
        }
        guard let words = boxes.values.lazy.compactMap({ EmbeddedPlaces.words($0, isBinary: false) }).first else {
            return
        }
        found += parts.map { Found(segment: $0, kind: .other, words: "JUMBF (C2PA) \(words)") }
    }
}
