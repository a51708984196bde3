/// Searches APP1 segments for a position: the GPS directory of EXIF (CIPA DC-008), or its names in XMP. Also reads the
/// orientation.
///
/// It examines no byte twice, even if segments overlap.
struct PositionSearch {
    private(set) var isFound = false
    /// Whether the first EXIF has an orientation that turns the picture by a quarter: 5 to 8.
    var isTurned: Bool { orientation.map { (5...8).contains($0) } ?? false }
    private var orientation: Int?
    /// The offset in the file at which the last examined directory ends.
    private var endOfDirectory = 0
    /// The offset in the file at which the last examined XMP packet ends.
    private var endOfXMP = 0
    /// The number of bytes of the name that matched so far. It is kept from one segment to the next, because extended
    /// XMP may be split anywhere.
    private var matched = 0

    private static let exif = Array("Exif\0\0".utf8)
    private static let xmp = Array("http://ns.adobe.com/xap/1.0/\0".utf8)
    private static let extendedXMP = Array("http://ns.adobe.com/xmp/extension/\0".utf8)
    /// The header has a GUID of 32 characters, the full length and the offset (XMP specification part 3, section
    /// 1.1.3.1).
    private static let extendedXMPHeader = extendedXMP.count + 32 + 4 + 4
    private static let name = Array("GPSLatitude".utf8)
    private static let gpsDirectoryTag = 0x8825
    private static let orientationTag = 0x0112

    /// Searches one segment.
    ///
    /// - Parameters:
    ///   - data: The contents of the segment, without marker and length.
    ///   - offset: The offset in the file at which `bytes` begin.
    mutating func look(at bytes: [UInt8], _ data: Range<Int>, offset: Int) {
        if isFound { return }
        let segment = bytes[data]
        if segment.starts(with: Self.exif) {
            if offset + data.lowerBound >= endOfDirectory {
                endOfDirectory = offset + lookForDirectory(segment.dropFirst(Self.exif.count))
            }
        } else if segment.starts(with: Self.xmp) {
            lookForName(segment.dropFirst(Self.xmp.count), offset: offset)
        } else if segment.starts(with: Self.extendedXMP) {
            lookForName(segment.dropFirst(Self.extendedXMPHeader), offset: offset)
        }
    }

    /// Searches for the name in any encoding: in UTF-16 and UTF-32, only zero bytes are added to such a name.
    private mutating func lookForName(_ text: ArraySlice<UInt8>, offset: Int) {
        let unread = text.dropFirst(max(0, endOfXMP - offset - text.startIndex))
        endOfXMP = max(endOfXMP, offset + text.endIndex)
        for byte in unread where byte != 0 {
            // The first letter of the name occurs only once in it.
            matched = byte == Self.name[matched] ? matched + 1 : byte == Self.name[0] ? 1 : 0
            if matched == Self.name.count {
                isFound = true
                return
            }
        }
    }

    /// Checks whether the first directory points to a GPS directory that has entries.
    ///
    /// - Returns: The index at which reading ended.
    private mutating func lookForDirectory(_ tiff: ArraySlice<UInt8>) -> Int {
        let isLittle = tiff.starts(with: [0x49, 0x49])
        guard isLittle || tiff.starts(with: [0x4d, 0x4d]) else { return tiff.startIndex }
        func number(_ offset: Int, _ count: Int) -> Int? {
            guard offset + count <= tiff.count else { return nil }
            let bytes = tiff[(tiff.startIndex + offset)..<(tiff.startIndex + offset + count)]
            return isLittle
                ? bytes.reversed().reduce(0) { $0 << 8 | Int($1) } : bytes.reduce(0) { $0 << 8 | Int($1) }
        }
        guard number(2, 2) == 42, let directory = number(4, 4), let count = number(directory, 2) else {
            return tiff.startIndex
        }
        var entry = directory + 2
        for _ in 0..<count {
            guard let tag = number(entry, 2) else { break }
            if tag == Self.orientationTag, orientation == nil { orientation = number(entry + 8, 2) }
            if tag == Self.gpsDirectoryTag, let target = number(entry + 8, 4), let entries = number(target, 2) {
                isFound = entries > 0
                break
            }
            entry += 12
        }
        return tiff.startIndex + min(entry, tiff.count)
    }
}
