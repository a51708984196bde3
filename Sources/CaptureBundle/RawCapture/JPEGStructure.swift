/// What the markers of a JPEG file say (ITU-T T.81 annex B). The picture itself is not decoded.
package struct JPEGStructure: Equatable {
    let width: Int
    let height: Int
    /// Whether EXIF or XMP in it holds a position.
    package let holdsPosition: Bool

    package struct Failure: Error, Equatable {
        package let message: String
    }

    private static let startOfImage: [UInt8] = [0xff, 0xd8, 0xff]

    /// Walks the segments up to the first scan.
    ///
    /// - Parameter bytes: the file, or at least its segments before the first scan.
    package init(_ bytes: [UInt8]) throws(Failure) {
        guard !bytes.isEmpty else { throw Failure(message: "is empty, expected a JPEG photo") }
        guard bytes.starts(with: Self.startOfImage) else {
            throw Failure(
                message: "is no JPEG: begins with \(Hex.encode(Array(bytes.prefix(3)))), expected ffd8ff")
        }
        var position = 2
        var size: (width: Int, height: Int)?
        var holdsPosition = false
        while true {
            guard let segment = try Self.segment(bytes, at: &position) else { continue }
            switch segment.marker {
            case 0xc0...0xc3, 0xc5...0xc7, 0xc9...0xcb, 0xcd...0xcf:
                guard segment.data.count >= 6 else { throw Failure(message: "is a broken JPEG: a short frame header") }
                // Sample precision, then number of lines and samples a line, 16 bits each (table B.2).
                let data = Array(segment.data.prefix(5))
                size = (Int(data[3]) << 8 | Int(data[4]), Int(data[1]) << 8 | Int(data[2]))
            case 0xe1:
                if ExifPosition.isPresent(in: Array(segment.data)) { holdsPosition = true }
            case 0xd9:
                throw Failure(message: "is a broken JPEG: ends before any scan")
            case 0xda:
                // A height of 0 is legal: a DNL marker after the first scan gives it.
                guard let size, size.width > 0 else {
                    throw Failure(message: "is a broken JPEG: a scan without a frame header that has a size")
                }
                (width, height) = size
                self.holdsPosition = holdsPosition
                return
            default: break
            }
        }
    }

    /// The segment at `position`, which moves behind it; nil for a marker without data.
    private static func segment(
        _ bytes: [UInt8], at position: inout Int
    ) throws(Failure) -> (marker: UInt8, data: ArraySlice<UInt8>)? {
        guard position < bytes.count else { throw Failure(message: "is a broken JPEG: ends before any scan") }
        guard bytes[position] == 0xff else {
            throw Failure(message: "is a broken JPEG: no marker at byte \(position)")
        }
        while position < bytes.count, bytes[position] == 0xff { position += 1 }
        guard position < bytes.count else { throw Failure(message: "is a broken JPEG: ends before any scan") }
        let marker = bytes[position]
        position += 1
        if marker == 0x01 || (0xd0...0xd8).contains(marker) { return nil }
        if marker == 0xd9 { return (marker, []) }
        guard position + 2 <= bytes.count else { throw Failure(message: "is a broken JPEG: ends inside a segment") }
        let length = Int(bytes[position]) << 8 | Int(bytes[position + 1])
        guard length >= 2, position + length <= bytes.count else {
            throw Failure(message: "is a broken JPEG: the segment at byte \(position - 2) goes past the end")
        }
        defer { position += length }
        return (marker, bytes[(position + 2)..<(position + length)])
    }
}

/// Looks for a position in an APP1 segment: the GPS directory of EXIF (CIPA DC-008), or its names in XMP.
enum ExifPosition {
    private static let exif = Array("Exif\0\0".utf8)
    private static let xmp = Array("http://ns.adobe.com/xap/1.0/\0".utf8)
    private static let extendedXMP = Array("http://ns.adobe.com/xmp/extension/\0".utf8)
    private static let gpsDirectoryTag = 0x8825

    static func isPresent(in segment: [UInt8]) -> Bool {
        if segment.starts(with: xmp) || segment.starts(with: extendedXMP) {
            return segment.firstRange(of: Array("GPSLatitude".utf8)) != nil
        }
        guard segment.starts(with: exif) else { return false }
        return hasGPSDirectory(Array(segment.dropFirst(exif.count)))
    }

    /// Whether the first directory points to a GPS directory that has entries.
    private static func hasGPSDirectory(_ tiff: [UInt8]) -> Bool {
        let isLittle = tiff.starts(with: [0x49, 0x49])
        guard isLittle || tiff.starts(with: [0x4d, 0x4d]) else { return false }
        func number(_ offset: Int, _ count: Int) -> Int? {
            guard offset >= 0, offset + count <= tiff.count else { return nil }
            let bytes = tiff[offset..<(offset + count)]
            return isLittle
                ? bytes.reversed().reduce(0) { $0 << 8 | Int($1) } : bytes.reduce(0) { $0 << 8 | Int($1) }
        }
        guard number(2, 2) == 42, let directory = number(4, 4), let count = number(directory, 2) else { return false }
        for index in 0..<count {
            let entry = directory + 2 + 12 * index
            guard let tag = number(entry, 2) else { return false }
            if tag == gpsDirectoryTag, let target = number(entry + 8, 4), let entries = number(target, 2) {
                return entries > 0
            }
        }
        return false
    }
}
