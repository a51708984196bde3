import CaptureNative

/// What the segments before the first scan of a JPEG say about the photo (Spec/capture-bundle.md section 11.1).
package struct PhotoHeader: Sendable {
    /// The facts in EXIF; nil if the photo has no EXIF.
    package fileprivate(set) var exif: PhotoFacts?
    /// The size in the first frame header; nil if the photo does not have it.
    package fileprivate(set) var frame: JPEGStructure.PhotoSize?
}

/// Reads the header of a photo from pieces of any size. It keeps one segment at most, and stops at the first scan.
package struct PhotoHeaderReader {
    private enum Phase {
        /// In the bytes that begin every JPEG, at the one with this index.
        case start(Int)
        /// Where a segment may begin.
        case mark
        /// In the bytes 0xff before a marker, or at the marker.
        case marker
        case lengthHigh
        case lengthLow(Int)
        /// In the data of a segment that is not needed.
        case skipped
        /// In the data of a segment that is kept.
        case kept
        case done
    }

    package private(set) var header = PhotoHeader()
    private var phase = Phase.start(0)
    private var marker: UInt8 = 0
    /// The number of bytes that the data of the segment still have.
    private var left = 0
    /// The offset in the photo of the next byte.
    private var position = 0
    private var segment: [UInt8] = []
    private var hasExif = false
    private var hasFrame = false

    private static let startOfImage: [UInt8] = [0xff, 0xd8]
    private static let exifStart = Array("Exif\0\0".utf8)

    package init() {}

    /// Reads the next bytes of the photo.
    package mutating func take(_ piece: Span<UInt8>) {
        var index = 0
        while index < piece.count {
            switch phase {
            case .done: return
            case .skipped, .kept:
                let count = min(left, piece.count - index)
                if case .kept = phase { segment.append(copying: piece.extracting(index..<(index + count))) }
                index += count
                position += count
                left -= count
                if left == 0 { endSegment() }
            default:
                take(piece[index])
                index += 1
                position += 1
            }
        }
    }

    /// Reads a byte outside the data of a segment.
    private mutating func take(_ byte: UInt8) {
        switch phase {
        case .start(let index):
            guard byte == Self.startOfImage[index] else { return phase = .done }
            phase = index + 1 < Self.startOfImage.count ? .start(index + 1) : .mark
        case .mark: phase = byte == 0xff ? .marker : .done
        case .marker:
            guard byte != 0xff else { return }
            marker = byte
            phase = byte < 0xc0 || (0xd0...0xda).contains(byte) ? .done : .lengthHigh
        case .lengthHigh: phase = .lengthLow(Int(byte) << 8)
        case .lengthLow(let high): beginSegment(length: high | Int(byte))
        case .skipped, .kept, .done: break
        }
    }

    /// - Parameter length: The length that the segment states, of whose two bytes the last one is being read.
    private mutating func beginSegment(length: Int) {
        left = length - 2
        guard left >= 0, position + 1 + left <= BundleLimits.photoHeaderBytes else { return phase = .done }
        let isKept = marker == 0xe1 && !hasExif || isFrame && !hasFrame
        phase = isKept ? .kept : .skipped
        if left == 0 { endSegment() }
    }

    private var isFrame: Bool { (0xc0...0xcf).contains(marker) && ![0xc4, 0xc8, 0xcc].contains(marker) }

    private mutating func endSegment() {
        if case .kept = phase {
            if isFrame {
                hasFrame = true
                header.frame = Self.size(segment)
            } else if segment.starts(with: Self.exifStart) {
                hasExif = true
                header.exif = PhotoFacts(tiff: Array(segment.dropFirst(Self.exifStart.count)))
            }
            segment = []
        }
        phase = .mark
    }

    /// The size in a frame header: the sample precision, then the height and the width with 16 bits each (ITU-T T.81
    /// table B.2).
    private static func size(_ frame: [UInt8]) -> JPEGStructure.PhotoSize? {
        guard frame.count >= 5 else { return nil }
        let (height, width) = (Int(frame[1]) << 8 | Int(frame[2]), Int(frame[3]) << 8 | Int(frame[4]))
        return width * height > 0 ? .init(width: width, height: height) : nil
    }
}
