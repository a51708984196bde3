import CaptureNative

/// The facts that the markers of a JPEG file give (ITU-T T.81 annex B). The picture itself is not decoded.
package struct JPEGStructure: Equatable {
    /// The facts in EXIF before the first scan; nil if there is no EXIF.
    package let exif: PhotoFacts?
    /// The first violation of T.81 in the file. Many decoders open such a file anyway.
    package let oddity: String?
    /// Width and height in the first frame header; nil where it does not say them.
    package let size: PixelSize?
    /// Whether EXIF turns the picture by a quarter before it is shown.
    package var isTurned: Bool { exif?.orientation.map { (5...8).contains($0) } ?? false }

    /// The file is not a JPEG, or a JPEG without a picture.
    package struct Failure: Error {
        package let message: String
        /// What the file is instead, as far as its first bytes tell.
        package var kind: FileKind?
    }
}

extension JPEGStructure {
    /// Reads a complete file.
    package init(_ bytes: [UInt8]) throws(Failure) {
        var walk = JPEGWalk(size: bytes.count)
        self = try walk.finish(bytes)
    }
}

/// Walks through a JPEG file from one 0xff byte to the next while its bytes are read.
///
/// Where the structure is broken, the walk continues at the next marker, as decoders do.
package struct JPEGWalk {
    private enum Phase {
        case segments
        /// The walk is in the entropy-coded data of a scan.
        case scan
        /// The walk is after the end of the first image.
        case rest
    }

    private let size: Int
    /// Bytes that were taken but not examined yet.
    private var kept: [UInt8] = []
    /// The offset in the file at which `kept` begins.
    private var start = 0
    private var phase = Phase.segments
    /// The offset at which the last segment ends.
    private var next = 2
    private var hasFrame = false
    private var frameSize: PixelSize?
    private var hasScan = false
    private var oddity: String?
    /// What the segments say before the first scan and before the first thing that is odd.
    private var header = PhotoHeader()
    private var isHeaderRead = false
    private var hasEXIF = false
    private let readsHeaderOnly: Bool

    private static let startOfImage: [UInt8] = [0xff, 0xd8, 0xff]
    private static let mark: [UInt8] = [0xff]
    /// The length of a marker with the longest segment.
    private static let reach = 2 + 0xffff

    /// - Parameters:
    ///   - size: The size of the whole file.
    ///   - readsHeaderOnly: Whether only `finishHeader` is needed, so that the walk can end at the first scan.
    package init(size: Int, readsHeaderOnly: Bool = false) {
        self.size = size
        self.readsHeaderOnly = readsHeaderOnly
    }

    /// Examines the next bytes of the file.
    package mutating func consume(_ piece: Span<UInt8>) throws(JPEGStructure.Failure) {
        if isHeaderRead && readsHeaderOnly { return }
        kept.append(copying: piece)
        let done = try walk(kept, isLast: false)
        kept.removeFirst(done)
        start += done
    }

    /// Ends the walk.
    ///
    /// - Parameter bytes: The whole file, if `consume` got nothing of it.
    package mutating func finish(_ bytes: [UInt8]? = nil) throws(JPEGStructure.Failure) -> JPEGStructure {
        _ = try walk(bytes ?? kept, isLast: true)
        guard hasScan else {
            let more = oddity.map { "; \($0)" } ?? ""
            throw JPEGStructure.Failure(message: "is a broken JPEG: it has no scan\(more)")
        }
        if phase != .rest { note("it has no end marker, so it may be cut short") }
        return JPEGStructure(exif: header.exif, oddity: oddity, size: frameSize)
    }

    /// Returns what was read before the first scan. A file that is not a JPEG says nothing.
    package mutating func finishHeader(_ bytes: [UInt8]? = nil) -> PhotoHeader {
        if !isHeaderRead { _ = try? walk(bytes ?? kept, isLast: true) }
        return header
    }

    /// Examines bytes and returns how many of them are no longer needed.
    private mutating func walk(_ bytes: [UInt8], isLast: Bool) throws(JPEGStructure.Failure) -> Int {
        if start == 0 {
            // The message about a file that is not a JPEG must not depend on the size of the first piece.
            guard bytes.count >= FileKind.length || isLast else { return 0 }
            isHeaderRead = !bytes.starts(with: Self.startOfImage)
            try checkBeginning(bytes)
        }
        var from = 0
        while let mark = ByteSearch.first(Self.mark, in: bytes.span, from: from) {
            if readsHeaderOnly && isHeaderRead { return bytes.count }
            guard isLast || mark + Self.reach <= bytes.count else { return mark }
            guard mark + 1 < bytes.count else { break }
            from = mark + 1
            if start + mark == 0 { continue }
            // The length is nil if the file ends before the length field does.
            let length = mark + 3 < bytes.count ? Int(bytes[mark + 2]) << 8 | Int(bytes[mark + 3]) : nil
            let data = min(mark + 4, bytes.count)..<min(max(mark + 4, mark + 2 + (length ?? 0)), bytes.count)
            if phase != .rest && start + mark >= next {
                inspect(bytes[mark + 1], at: start + mark, length: length, data: bytes[data])
            }
        }
        return bytes.count
    }

    private func checkBeginning(_ bytes: [UInt8]) throws(JPEGStructure.Failure) {
        guard !bytes.isEmpty else { throw JPEGStructure.Failure(message: "is empty, expected a JPEG photo") }
        guard bytes.starts(with: Self.startOfImage) else {
            let kind = FileKind(bytes)
            let found = Hex.encode(Array(bytes.prefix(Self.startOfImage.count)))
            throw JPEGStructure.Failure(
                message: kind.map { "is \($0.words), expected a JPEG" }
                    ?? "is not a JPEG photo: begins with \(found), expected ffd8ff", kind: kind)
        }
    }

    /// Interprets the byte after a 0xff byte that is outside all segments.
    private mutating func inspect(_ marker: UInt8, at position: Int, length: Int?, data: ArraySlice<UInt8>) {
        if phase == .scan {
            // A data byte of 0xff, a fill byte and a restart marker all belong to the scan.
            if marker == 0x00 || marker == 0xff || (0xd0...0xd7).contains(marker) { return }
        } else {
            if marker == 0xff && position == next {
                next += 1
                return
            }
            let isOutside = position > next || position >= BundleLimits.photoHeaderBytes
            if isOutside || marker < 0xc0 || (0xd0...0xda).contains(marker) { isHeaderRead = true }
            if position > next { note("the bytes from \(next) to \(position) are not in a segment") }
        }
        switch marker {
        case 0x00, 0x02...0xbf, 0xff: note("the two bytes at \(position) are not a marker")
        case 0x01, 0xd0...0xd7: next = position + 2
        case 0xd8:
            note("a second image begins at byte \(position), before the first has ended")
            next = position + 2
        case 0xd9:
            if hasScan { phase = .rest } else { note("an end marker comes before the first scan, at byte \(position)") }
            next = position + 2
        default: beginSegment(marker, at: position, length: length ?? 0, data)
        }
    }

    private mutating func beginSegment(_ marker: UInt8, at position: Int, length: Int, _ data: ArraySlice<UInt8>) {
        guard length >= 2, position + 2 + length <= size else {
            note("the segment at byte \(position) has a bad length")
            isHeaderRead = true
            next = position + 2
            return
        }
        next = position + 2 + length
        phase = .segments
        if next > BundleLimits.photoHeaderBytes { isHeaderRead = true }
        if marker == 0xe1, !isHeaderRead, !hasEXIF, data.starts(with: TIFFStructure.exifMark) {
            hasEXIF = true
            header.exif = PhotoFacts(exif: Array(data))
        }
        switch marker {
        case 0xc0...0xc3, 0xc5...0xc7, 0xc9...0xcb, 0xcd...0xcf:
            // The fields are the sample precision, then the number of lines and the samples per line with 16 bits each
            // (table B.2). Zero lines are legal: a DNL marker after the first scan then gives their number.
            let sides = data.dropFirst(1).prefix(4).map(Int.init)
            let (height, width) = sides.count == 4 ? (sides[0] << 8 | sides[1], sides[2] << 8 | sides[3]) : (0, 0)
            if width == 0 { note("the frame header at byte \(position) has no width") }
            if !hasFrame {
                if width * height > 0 { frameSize = .init(width: width, height: height) }
                if !isHeaderRead { header.frame = frameSize }
            }
            hasFrame = true
        case 0xda:
            if !hasFrame { note("the scan at byte \(position) has no frame header") }
            hasScan = true
            phase = .scan
        default: break
        }
    }

    private mutating func note(_ text: String) { oddity = oddity ?? text }
}

/// What the segments before the first scan of a JPEG say about the photo (Spec/capture-bundle.md section 11.1).
package struct PhotoHeader: Sendable {
    /// The facts in EXIF; nil if the photo has no EXIF.
    package fileprivate(set) var exif: PhotoFacts?
    /// The size in the first frame header; nil if the photo does not have it.
    package fileprivate(set) var frame: PixelSize?
}
