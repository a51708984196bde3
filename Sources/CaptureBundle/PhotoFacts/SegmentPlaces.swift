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
    /// Segments whose contents are binary data with a form of their own: the colour profile and the index of pictures.
    private static let withoutText = ["ICC_PROFILE\0", "MPF\0"].map { Array($0.utf8) }

    init(_ jpeg: [UInt8], _ image: JPEGSegments) {
        for segment in image.segments where segment.marker == 0xfe || (0xe0...0xef).contains(segment.marker) {
            let data = jpeg[segment.data]
            if segment.marker == 0xe1, data.starts(with: XMPPacket.extensionHeader) { continue }
            if let (kind, words) = Self.look(segment.marker, data) {
                found.append(Found(segment: segment, kind: kind, words: words))
            }
        }
        addExtended(jpeg, image)
    }

    private static func look(_ marker: UInt8, _ data: ArraySlice<UInt8>) -> (Kind, String)? {
        if marker == 0xe1, data.starts(with: exifHeader) {
            let bytes = Array(data.dropFirst(exifHeader.count))
            guard let tiff = TIFFStructure(bytes) else {
                return PlaceNames.tellsPlace(bytes) ? (.other, "EXIF that cannot be read names a place") : nil
            }
            return TIFFPlaces(tiff).words.map { (.exif, $0) }
        }
        if marker == 0xe1, data.starts(with: XMPPacket.segmentHeader) {
            return XMPPacket.words(Array(data.dropFirst(XMPPacket.segmentHeader.count))).map { (.xmp, $0) }
        }
        if marker == 0xed, data.starts(with: PhotoshopResources.header) {
            return PhotoshopResources.words(Array(data.dropFirst(PhotoshopResources.header.count))).map { (.other, $0) }
        }
        if marker == 0xe2, withoutText.contains(where: { data.starts(with: $0) }) { return nil }
        let name = marker == 0xfe ? "a comment" : "APP\(marker - 0xe0)"
        return PlaceNames.tellsPlace(data) ? (.other, "\(name) names a latitude, a longitude or GPS data") : nil
    }

    /// Searches all parts of extended XMP together, because a name may be split between two of them.
    private mutating func addExtended(_ jpeg: [UInt8], _ image: JPEGSegments) {
        let parts = image.segments.filter { $0.marker == 0xe1 && jpeg[$0.data].starts(with: XMPPacket.extensionHeader) }
        let text = parts.flatMap { jpeg[$0.data].dropFirst(XMPPacket.extensionHeaderLength) }
        guard !text.isEmpty, let words = XMPPacket.words(text) else { return }
        found += parts.map { Found(segment: $0, kind: .extendedXMP, words: words) }
    }
}
