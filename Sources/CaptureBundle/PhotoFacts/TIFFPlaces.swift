/// Searches EXIF and TIFF files for a position: in a GPS directory, and in the tags of XMP, IPTC and GeoTIFF.
struct TIFFPlaces {
    let tiff: TIFFStructure
    /// All directories except the GPS directory: the first one, those chained to it, and those for EXIF, for further
    /// pictures and for interoperability.
    let directories: [TIFFDirectory]

    private static let directoryLimit = 64
    private static let pointers: Set<Int> = [TIFFTag.exif, TIFFTag.interoperability, TIFFTag.subDirectories]

    /// The tags that can contain a position: GPS; XMP (700), IPTC (0x83bb), Photoshop's resources (0x8649); GeoTIFF.
    static let tags: Set<Int> = [
        TIFFTag.gps, 700, 0x83bb, 0x8649, 33_550, 33_922, 34_264, 34_735, 34_736, 34_737,
    ]

    /// Follows the pointers from the first directory. It reads each offset once and at most 64 directories.
    init(_ tiff: TIFFStructure) {
        var found: [TIFFDirectory] = []
        var waiting = [tiff.firstDirectory]
        var seen: Set<Int> = []
        while let offset = waiting.popLast(), found.count < Self.directoryLimit {
            guard seen.insert(offset).inserted, let directory = tiff.directory(at: offset) else { continue }
            found.append(directory)
            if let next = directory.next { waiting.append(next) }
            for entry in directory.entries where Self.pointers.contains(entry.tag) {
                waiting += (0..<min(entry.count, Self.directoryLimit)).compactMap { tiff.unsigned(entry, at: $0) }
            }
        }
        (self.tiff, directories) = (tiff, found)
    }

    /// Says for a message what contains a position; nil if nothing does.
    var words: String? {
        for entry in directories.flatMap(\.entries) where Self.tags.contains(entry.tag) {
            if let words = words(entry) { return words }
        }
        return nil
    }

    private func words(_ entry: TIFFDirectory.Entry) -> String? {
        switch entry.tag {
        case TIFFTag.gps:
            guard let target = tiff.unsigned(entry) else { return "EXIF has a pointer to GPS fields" }
            let isEmpty = tiff.number(at: target, length: 2) == 0
            return isEmpty ? nil : "EXIF has GPS fields"
        case 700: return tiff.value(entry).flatMap { XMPPacket.words(Array($0)) }
        case 0x83bb:
            return tiff.value(entry).flatMap { PhotoshopResources.tellsPlace(iptc: $0) ? "IPTC names a place" : nil }
        case 0x8649: return tiff.value(entry).flatMap { PhotoshopResources.words(Array($0)) }
        default: return "TIFF has the fields of GeoTIFF"
        }
    }
}

extension XMPPacket {
    /// Says for a message what in an XMP packet contains a position; nil if nothing does. A packet that cannot be read is
    /// searched for the words of `PlaceNames`.
    static func words(_ bytes: [UInt8]) -> String? {
        guard let packet = XMPPacket(bytes) else {
            return PlaceNames.tellsPlace(bytes) ? "XMP that cannot be read names a latitude or longitude" : nil
        }
        return packet.place.map { "XMP has \($0)" }
    }
}
