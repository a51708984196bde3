/// Where EXIF and TIFF files tell a place: a GPS directory, the tags of XMP, IPTC and GeoTIFF, and texts that name one.
struct TIFFPlaces {
    let tiff: TIFFStructure
    /// All directories except the GPS directory: the first one, those chained to it, and those for EXIF, for further
    /// pictures and for interoperability.
    let directories: [TIFFDirectory]
    /// What tells a place; nil if nothing does. Fields that cannot be searched count as such.
    let words: String?
    /// Why some fields were not searched; nil if all were.
    let doubt: String?
    /// The offsets of the entries that hold a place or may hold one.
    private let places: Set<Int>

    /// Searches the fields of all directories, and then all bytes after the header, because a place can be in bytes that no
    /// reader understands.
    ///
    /// - Parameter isInside: Whether this structure is inside other bytes, which are searched as a whole. Then
    ///   Photoshop's resources in it are refused, because they could contain a further structure.
    init(_ tiff: TIFFStructure, isInside: Bool = false) {
        var walk = DirectoryWalk(tiff)
        walk.run()
        let rest = tiff.bytes.dropFirst(TIFFStructure.headerLength)
        let inRest = isInside ? nil : EmbeddedPlaces.words(Array(rest), isBinary: true)
        // To find the fields that contain it, each field is searched again.
        var search = FieldSearch(tiff, isInside: isInside, searchesAll: inRest != nil)
        for directory in walk.directories {
            for entry in directory.entries { search.look(at: entry) }
        }
        self.tiff = tiff
        directories = walk.directories
        places = search.places
        doubt = walk.doubt ?? search.doubt
        words = search.words ?? doubt ?? inRest.map { "EXIF \($0)" }
    }

    /// Whether the entry holds a place or may hold one.
    func isPlace(_ entry: TIFFDirectory.Entry) -> Bool { places.contains(entry.offset) }
}

/// Follows the pointers from the first directory; each offset once.
private struct DirectoryWalk {
    let tiff: TIFFStructure
    private(set) var directories: [TIFFDirectory] = []
    private(set) var doubt: String?

    private static let directoryLimit = 64
    /// The tags of pointers to directories (EXIF 2.32; TIFF/EP; Kodak's and DNG's): EXIF, interoperability, SubIFDs,
    /// global parameters, and five of makers.
    private static let pointers: Set<Int> = [
        TIFFTag.exif, TIFFTag.interoperability, TIFFTag.subDirectories, 0x0190, 0x8290, 0x888a, 0xc6f5, 0xfe00,
    ]
    /// The type of a field that is a pointer to a directory, whatever its tag.
    private static let directoryType = 13

    init(_ tiff: TIFFStructure) { self.tiff = tiff }

    mutating func run() {
        var waiting = [tiff.firstDirectory]
        var seen: Set<Int> = []
        // Directories that do not overlap fit the structure, so the work for each byte is bounded.
        var budget = tiff.bytes.count
        while let offset = waiting.popLast() {
            guard seen.insert(offset).inserted else { continue }
            guard let directory = tiff.directory(at: offset) else {
                if tiff.overruns(at: offset) {
                    doubt = "EXIF has a directory that cannot be read, which may tell a place"
                }
                continue
            }
            budget -= directory.range.count
            guard directories.count < Self.directoryLimit, budget >= 0 else {
                doubt = "EXIF has more directories than can be searched for a place"
                return
            }
            directories.append(directory)
            if let next = directory.next, tiff.directory(at: next) != nil { waiting.append(next) }
            for entry in directory.entries where Self.isPointer(entry) {
                // Lists of pointers that do not overlap fit the structure too.
                if entry.isElsewhere { budget -= entry.value?.count ?? 0 }
                guard budget >= 0 else {
                    doubt = "EXIF has more pointers than can be searched for a place"
                    return
                }
                waiting += (0..<min(entry.count, Self.directoryLimit + 1)).compactMap { tiff.pointer(entry, at: $0) }
            }
        }
    }

    private static func isPointer(_ entry: TIFFDirectory.Entry) -> Bool {
        entry.type == directoryType && entry.tag != TIFFTag.gps || pointers.contains(entry.tag)
    }
}

/// Looks at fields one after the other.
private struct FieldSearch {
    let tiff: TIFFStructure
    let isInside: Bool
    /// Whether values without a reader are searched too, whatever their type is.
    let searchesAll: Bool
    private(set) var places: Set<Int> = []
    private(set) var words: String?
    private(set) var doubt: String?
    /// How many bytes of values may still be searched. Values that do not overlap fit the structure.
    private var budget: Int

    /// Tags that hold a place or may hold one: GPS; XMP (700), IPTC (0x83bb), Photoshop's resources (0x8649); GeoTIFF.
    private static let tags: Set<Int> = [
        TIFFTag.gps, 700, 0x83bb, 0x8649, 33_550, 33_922, 34_264, 34_735, 34_736, 34_737,
    ]
    /// Texts that are not of the types ASCII and UTF-8: the user's comment, and the fields of Windows in UTF-16.
    private static let texts: Set<Int> = [0x9286, 0x9c9b, 0x9c9c, 0x9c9d, 0x9c9e, 0x9c9f]
    private static let textTypes: Set<Int> = [2, 129]

    init(_ tiff: TIFFStructure, isInside: Bool, searchesAll: Bool) {
        (self.tiff, self.isInside, self.searchesAll) = (tiff, isInside, searchesAll)
        budget = tiff.bytes.count
    }

    mutating func look(at entry: TIFFDirectory.Entry) {
        let isOpaque = searchesAll && entry.isElsewhere
        guard Self.tags.contains(entry.tag) || Self.isText(entry) || isOpaque else { return }
        if Self.tags.contains(entry.tag) { places.insert(entry.offset) }
        budget -= entry.value?.count ?? 0
        guard budget >= 0 else {
            doubt = "EXIF has fields that share bytes, so it cannot be searched for a place"
            return
        }
        guard let found = found(entry) else { return }
        places.insert(entry.offset)
        words = words ?? found
    }

    private static func isText(_ entry: TIFFDirectory.Entry) -> Bool {
        textTypes.contains(entry.type) || texts.contains(entry.tag)
    }

    private func found(_ entry: TIFFDirectory.Entry) -> String? {
        let value = tiff.value(entry)
        switch entry.tag {
        case TIFFTag.gps:
            guard let target = tiff.pointer(entry) else { return "EXIF has a pointer to GPS fields" }
            let isEmpty = tiff.number(at: target, length: 2) == 0
            return isEmpty ? nil : "EXIF has GPS fields"
        case 700: return value.flatMap { XMPPacket.words(Array($0)) }
        case 0x83bb:
            return value.flatMap { PhotoshopResources.tellsPlace(iptc: $0) ? "IPTC names a place" : nil }
        case 0x8649:
            if isInside { return "Photoshop's resources are nested and cannot be searched for a place" }
            return value.flatMap { PhotoshopResources.words(Array($0)) }
        case _ where Self.tags.contains(entry.tag): return "TIFF has the fields of GeoTIFF"
        default:
            let isText = Self.isText(entry)
            return value.flatMap { EmbeddedPlaces.words(Array($0), isBinary: !isText) }
                .map { "\(isText ? "a text" : "a field") of EXIF \($0)" }
        }
    }
}

extension XMPPacket {
    /// What tells a place in the bytes of a packet; nil if nothing does. What cannot be read is searched for words.
    static func words(_ bytes: [UInt8]) -> String? {
        guard let packet = XMPPacket(bytes) else {
            return PlaceNames.mayTellPlace(bytes) ? "XMP that cannot be read may name a place" : nil
        }
        if let place = packet.place { return "XMP has \(place)" }
        return PlaceNames.mayTellPlace(bytes[packet.end...]) ? "XMP may name a place after its end" : nil
    }
}
