/// Removes the position from EXIF. Nothing else moves, so all offsets stay valid and no other field is lost.
struct GPSRemoval {
    struct Failure: Error {
        let message: String
    }

    /// What a range of bytes belongs to. A range that changes may overlap only ranges with the same owner.
    private enum Owner: Equatable {
        /// Bytes that stay as they are.
        case kept
        case place
        case makerNote
        /// A directory that loses entries, by its offset.
        case directory(Int)
    }

    private static let appleMakerNote = Array("Apple iOS\0".utf8)
    /// The tags of the offsets and lengths of pictures and thumbnails.
    private static let pictures = [(0x0111, 0x0117), (0x0201, 0x0202), (0x0144, 0x0145)]
    private static let pictureLimit = 4096

    private let places: TIFFPlaces
    /// Whether only the maker notes are removed.
    private let keepsPlaces: Bool
    private var owners: [(range: Range<Int>, owner: Owner)] = []
    private var tiff: TIFFStructure { places.tiff }

    /// Returns the TIFF bytes without the fields that contain a position. Maker notes become zeros, except Apple's, which
    /// contain no position.
    ///
    /// - Parameter keepsPlaces: Whether only the maker notes are removed.
    /// - Throws: If a range that must change overlaps another one, or a range cannot be found.
    static func apply(to tiff: TIFFStructure, keepsPlaces: Bool = false) throws(Failure) -> [UInt8] {
        var removal = GPSRemoval(places: TIFFPlaces(tiff), keepsPlaces: keepsPlaces)
        return try removal.run()
    }

    private init(places: TIFFPlaces, keepsPlaces: Bool) {
        self.places = places
        self.keepsPlaces = keepsPlaces
    }

    private func isRemoved(_ entry: TIFFDirectory.Entry) -> Bool { !keepsPlaces && places.isPlace(entry) }

    private mutating func run() throws(Failure) -> [UInt8] {
        if let doubt = places.doubt { throw Failure(message: doubt) }
        owners.append((0..<TIFFStructure.headerLength, .kept))
        for directory in places.directories { try claim(directory) }
        try checkOverlaps()
        var bytes = tiff.bytes
        for (range, owner) in owners where owner == .place || owner == .makerNote {
            for index in range { bytes[index] = 0 }
        }
        for directory in places.directories { shift(directory, &bytes) }
        return bytes
    }

    private mutating func claim(_ directory: TIFFDirectory) throws(Failure) {
        let loses = directory.entries.contains(where: isRemoved)
        let range = Self.whole(directory, in: tiff)
        owners.append((range, loses ? .directory(directory.offset) : .kept))
        for entry in directory.entries {
            if isRemoved(entry) {
                try claimPlace(entry)
            } else if entry.isElsewhere, let value = entry.value {
                let isNote = entry.tag == TIFFTag.makerNote && !tiff.bytes[value].starts(with: Self.appleMakerNote)
                owners.append((value, isNote ? .makerNote : .kept))
            }
        }
        for (offsets, lengths) in Self.pictures {
            guard let starts = directory[offsets], let counts = directory[lengths] else { continue }
            for index in 0..<min(starts.count, Self.pictureLimit) {
                guard let start = tiff.unsigned(starts, at: index), let count = tiff.unsigned(counts, at: index) else {
                    break
                }
                owners.append((start..<(start + count), .kept))
            }
        }
    }

    private mutating func claimPlace(_ entry: TIFFDirectory.Entry) throws(Failure) {
        guard let value = entry.value else {
            throw Failure(message: "its EXIF has a position field whose bytes cannot be found")
        }
        if entry.isElsewhere { owners.append((value, .place)) }
        guard entry.tag == TIFFTag.gps else { return }
        guard let gps = tiff.pointer(entry).flatMap({ tiff.directory(at: $0) }) else {
            throw Failure(message: "its EXIF has GPS fields that cannot be read")
        }
        owners.append((gps.range, .place))
        for field in gps.entries {
            guard let value = field.value else {
                throw Failure(message: "its EXIF has a GPS field whose bytes cannot be found")
            }
            if field.isElsewhere { owners.append((value, .place)) }
        }
    }

    /// The range of a directory with its pointer to the next one, if the structure does not end before the pointer.
    private static func whole(_ directory: TIFFDirectory, in tiff: TIFFStructure) -> Range<Int> {
        let range = directory.range
        return range.upperBound + 4 <= tiff.bytes.count ? range.lowerBound..<(range.upperBound + 4) : range
    }

    /// Refuses overlaps of a range that changes with a range of another owner. It goes through the ranges in the order of
    /// their beginnings, and remembers the ends of the kept and the changing ranges.
    private func checkOverlaps() throws(Failure) {
        var keptEnd = 0
        var changing: (end: Int, owner: Owner) = (0, .place)
        for (range, owner) in owners.sorted(by: { $0.range.lowerBound < $1.range.lowerBound }) where !range.isEmpty {
            let start = range.lowerBound
            let meetsChange = start < changing.end && owner != changing.owner
            let meetsKept = start < keptEnd && owner != .kept
            guard !meetsChange, !meetsKept else {
                throw Failure(message: "its EXIF has two fields that share bytes (at offset \(start))")
            }
            if owner == .kept {
                keptEnd = max(keptEnd, range.upperBound)
            } else if range.upperBound > changing.end {
                changing = (range.upperBound, owner)
            }
        }
    }

    /// Moves the entries after the removed ones, and the pointer to the next directory, up by 12 bytes for each.
    private func shift(_ directory: TIFFDirectory, _ bytes: inout [UInt8]) {
        let kept = directory.entries.filter { !isRemoved($0) }
        let lost = directory.entries.count - kept.count
        guard lost > 0 else { return }
        let (start, end) = (directory.offset, directory.range.upperBound)
        let next = Array(bytes[end..<min(end + 4, bytes.count)])
        let count = [UInt8(truncatingIfNeeded: kept.count), UInt8(truncatingIfNeeded: kept.count >> 8)]
        let entries = kept.flatMap { Array(bytes[$0.offset..<($0.offset + TIFFDirectory.entryLength)]) }
        let zeros = [UInt8](repeating: 0, count: lost * TIFFDirectory.entryLength)
        bytes.replaceSubrange(
            start..<(end + next.count), with: (tiff.isLittleEndian ? count : count.reversed()) + entries + next + zeros)
    }
}
