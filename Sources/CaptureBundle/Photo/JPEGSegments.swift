import CaptureNative

/// The segments of one JPEG image and its true end (ITU-T T.81 annex B). Reading stops where decoders give up.
package struct JPEGSegments {
    /// A marker with its data.
    package struct Segment {
        let marker: UInt8
        /// The range in the file from the 0xff byte to the end of the data.
        let range: Range<Int>

        /// The range of the data, after marker and length.
        package var data: Range<Int> { (range.lowerBound + 4)..<range.upperBound }
    }

    /// The offset of the start-of-image marker.
    package let start: Int
    /// All segments, in file order: tables and application data before the first scan, and what follows between scans.
    private(set) var segments: [Segment] = []
    /// The offset of the first start-of-scan marker.
    private(set) var scan: Int?
    /// The offset after the end-of-image marker; nil if the image is broken or cut short.
    package private(set) var end: Int?

    /// The maximum number of segments. A file of 4 GiB with segments of 64 KiB has fewer.
    private static let limit = 1 << 16
    private static let mark: [UInt8] = [0xff]

    /// Reads the image that begins at `start`, up to its end or to the first broken segment; nil if it does not begin
    /// with a start marker.
    package init?(_ bytes: [UInt8], at start: Int = 0) {
        guard start >= 0, start <= bytes.count - 4, bytes[start] == 0xff, bytes[start + 1] == 0xd8 else { return nil }
        self.start = start
        var position = start + 2
        while let (marker, place) = Self.marker(in: bytes, at: position), segments.count < Self.limit {
            if marker == 0xd9 {
                if scan != nil { end = place + 2 }
                return
            }
            if marker == 0x01 || (0xd0...0xd7).contains(marker) {
                position = place + 2
                continue
            }
            guard marker >= 0xc0, marker != 0xd8, place + 4 <= bytes.count else { return }
            let length = Int(bytes[place + 2]) << 8 | Int(bytes[place + 3])
            guard length >= 2, place + 2 + length <= bytes.count else { return }
            segments.append(Segment(marker: marker, range: place..<(place + 2 + length)))
            position = place + 2 + length
            if marker == 0xda {
                scan = scan ?? place
                guard let end = Self.endOfScan(in: bytes, from: position) else { return }
                position = end
            }
        }
    }

    /// The segments before the first scan with this marker whose data begin with `start`.
    package func segments(_ marker: UInt8, beginningWith start: [UInt8], in bytes: [UInt8]) -> [Segment] {
        segments.filter {
            $0.marker == marker && $0.range.lowerBound < scan ?? .max && bytes[$0.data].starts(with: start)
        }
    }

    /// The next marker from a position on, and the offset of its 0xff byte. Bytes before it are skipped, as decoders do.
    private static func marker(in bytes: [UInt8], at position: Int) -> (UInt8, Int)? {
        var position = position
        while let mark = ByteSearch.first(mark, in: bytes.span, from: position), mark + 1 < bytes.count {
            if bytes[mark + 1] != 0 && bytes[mark + 1] != 0xff { return (bytes[mark + 1], mark) }
            position = mark + 1
        }
        return nil
    }

    /// The offset of the first marker that does not belong to the scan's data.
    private static func endOfScan(in bytes: [UInt8], from start: Int) -> Int? {
        var position = start
        while let mark = ByteSearch.first(mark, in: bytes.span, from: position), mark + 1 < bytes.count {
            let marker = bytes[mark + 1]
            if marker != 0 && marker != 0xff && !(0xd0...0xd7).contains(marker) { return mark }
            position = mark + (marker == 0xff ? 1 : 2)
        }
        return nil
    }
}
