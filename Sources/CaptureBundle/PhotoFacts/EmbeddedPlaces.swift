import CaptureNative

/// Searches bytes that no reader understands, such as a maker note, a thumbnail, or the bytes between two fields.
///
/// Whatever has a form of its own inside them is found at any offset, so nothing is unpacked, and no byte is searched
/// more than a fixed number of times.
enum EmbeddedPlaces {
    /// Says for a message what the bytes have that tells a place, such as `has GPS fields`; nil if nothing does.
    ///
    /// - Parameter isBinary: Whether words of four bytes do not count, because binary data contain them by chance.
    static func words(_ bytes: [UInt8], isBinary: Bool) -> String? {
        if isBinary ? PlaceNames.tellsPlaceAmongSamples(bytes) : PlaceNames.tellsPlace(bytes) {
            return "names a latitude, a longitude or GPS data"
        }
        if PlaceNumbers.areNamed(in: bytes) { return "has a number after the name of a coordinate, as in lat=12.5" }
        if hasPlaceBox(bytes) { return "has the box loci, which tells a place" }
        return inTIFF(bytes) ?? inXMP(bytes) ?? inIPTC(bytes)
    }

    /// The type, the version and the flags of the box of a place (3GPP TS 26.244 section 8.10).
    private static let placeBox = Array("loci\0\0\0\0".utf8)

    private static func hasPlaceBox(_ bytes: [UInt8]) -> Bool {
        ByteSearch.first(placeBox, in: bytes.span, from: 0) != nil
    }

    // MARK: - TIFF

    /// The maximum number of TIFF structures that are searched. Each of them may reach to the end of the bytes.
    private static let structureLimit = 16

    private static func inTIFF(_ bytes: [UInt8]) -> String? {
        var count = 0
        for header in [TIFFHeader.little, TIFFHeader.big] {
            var from = 0
            while let start = header.first(in: bytes, from: from) {
                from = start + 1
                guard header.hasDirectory(in: bytes, at: start) else { continue }
                count += 1
                guard count <= structureLimit else {
                    return "contains more TIFF structures than can be searched for a place"
                }
                guard let tiff = TIFFStructure(Array(bytes[start...])) else { continue }
                if let words = TIFFPlaces(tiff, isInside: true).words { return "contains a TIFF structure: \(words)" }
            }
        }
        return nil
    }

    // MARK: - XMP and IPTC

    private static let xmp = Array("rdf:RDF".utf8)
    private static let xmpRoot = Array("<x:xmpmeta".utf8)
    /// The maximum distance from the beginning of the root to `xmp`.
    private static let xmpReach = 512

    private static func inXMP(_ bytes: [UInt8]) -> String? {
        var from = 0
        for _ in 0..<structureLimit {
            guard let name = ByteSearch.first(xmp, in: bytes.span, from: from) else { return nil }
            let near = Array(bytes[max(from, name - xmpReach)..<name])
            let root = ByteSearch.first(xmpRoot, in: near.span, from: 0).map { name - near.count + $0 }
            let start = root ?? max(from, name - 1)
            let end = bytes[start...].firstIndex { $0 < 0x20 && ![0x09, 0x0a, 0x0d].contains($0) } ?? bytes.count
            let text = Array(bytes[start..<end])
            if let packet = XMPPacket(text) {
                if let place = packet.place { return "contains XMP with \(place)" }
                from = start + packet.end
            } else {
                if PlaceNames.mayTellPlace(text) { return "contains XMP that cannot be read and may name a place" }
                from = max(end, name + xmp.count)
            }
        }
        return "contains more XMP than can be searched for a place"
    }

    /// The signature and the number of the resource of Photoshop that has IPTC.
    private static let iptc = Array("8BIM".utf8) + [4, 4]

    private static func inIPTC(_ bytes: [UInt8]) -> String? {
        var from = 0
        while let start = ByteSearch.first(iptc, in: bytes.span, from: from) {
            from = start + iptc.count
            guard let nameLength = bytes[from...].first else { return nil }
            let size = from + (Int(nameLength) + 2) / 2 * 2
            guard size + 4 <= bytes.count else { continue }
            let length = bytes[size..<(size + 4)].reduce(0) { $0 << 8 | Int($1) }
            guard length <= bytes.count - size - 4 else { continue }
            from = size + 4 + length
            if PhotoshopResources.tellsPlace(iptc: bytes[(size + 4)..<from]) {
                return "contains IPTC that names a place"
            }
        }
        return nil
    }
}

/// The header of a TIFF structure in one of the two byte orders.
struct TIFFHeader {
    static let little = TIFFHeader(bytes: [0x49, 0x49, 0x2a, 0], isLittle: true)
    static let big = TIFFHeader(bytes: [0x4d, 0x4d, 0, 0x2a], isLittle: false)

    private let bytes: [UInt8]
    private let isLittle: Bool

    /// The maximum number of fields whose types are checked.
    private static let fieldLimit = 4

    /// The offset of the first header, from which a first directory inside the data follows.
    func first(in data: [UInt8], from: Int) -> Int? {
        var from = from
        while let start = ByteSearch.first(bytes, in: data.span, from: from) {
            if directory(in: data, at: start) != nil { return start }
            from = start + 1
        }
        return nil
    }

    /// Whether the first directory lies within the data and has fields of known types. Canon ends its maker notes with a
    /// header that does not lead to one.
    func hasDirectory(in data: [UInt8], at start: Int) -> Bool {
        guard let place = directory(in: data, at: start), let count = number(in: data, at: place, length: 2),
            count > 0, place + 2 + count * TIFFDirectory.entryLength <= data.count
        else { return false }
        return (0..<min(count, Self.fieldLimit)).allSatisfy { index in
            let type = number(in: data, at: place + 2 + index * TIFFDirectory.entryLength + 2, length: 2)
            return type.map { TIFFDirectory.lengths[$0] != nil } ?? false
        }
    }

    /// The offset of the first directory in the data; nil if it is not inside them.
    private func directory(in data: [UInt8], at start: Int) -> Int? {
        guard let offset = number(in: data, at: start + 4, length: 4), offset >= TIFFStructure.headerLength,
            offset < data.count - start
        else { return nil }
        return start + offset
    }

    private func number(in data: [UInt8], at offset: Int, length: Int) -> Int? {
        guard offset <= data.count - length else { return nil }
        let field = data[offset..<(offset + length)]
        return isLittle ? field.reversed().reduce(0) { $0 << 8 | Int($1) } : field.reduce(0) { $0 << 8 | Int($1) }
    }
}
