import CaptureNative

/// A photo as a bundle without a position has it: only the listed segments and EXIF fields (Spec/raw-captures.md section
/// 7). Nothing is searched; what is not listed is not copied.
package struct PhotoFields {
    /// The photo with only what is listed. The bytes of the picture are those of the original.
    package private(set) var photo: [UInt8] = []
    /// Names what else the original has; empty if it is as listed.
    package private(set) var others: [String] = []

    /// The markers cannot be followed to the end of the picture, or a part of the picture is cut short.
    package struct Failure: Error {}

    private static let jfif = Array("JFIF\0".utf8)
    private static let jfifLength = 14
    private static let adobe = Array("Adobe".utf8)
    private static let adobeLength = 12

    package init(_ jpeg: [UInt8]) throws(Failure) {
        guard let image = JPEGSegments(jpeg), let end = image.end, let scan = image.scan else { throw Failure() }
        let hasPlainProfile = ColourProfile(jpeg, image)?.isPlain ?? false
        var (hasEXIF, hasFrame) = (false, false)
        photo = Array(jpeg.prefix(2))
        photo.reserveCapacity(end)
        for (index, segment) in image.segments.enumerated() {
            let data = jpeg[segment.data]
            let isHeader = segment.marker >= 0xe0 && segment.range.lowerBound < scan
            if let part = JPEGPart(segment.marker) {
                guard let length = part.length(in: data) else { throw Failure() }
                if part == .frame && hasFrame {
                    others.append("a second frame header")
                    continue
                }
                hasFrame = hasFrame || part == .frame
                append(
                    segment.marker, data.prefix(length), insteadOf: data, more: "bytes behind the fields of a segment")
                guard part == .scan else { continue }
                // The data of a scan have no length and end at the next segment.
                let next = index + 1 < image.segments.count ? image.segments[index + 1].range.lowerBound : end - 2
                photo += jpeg[segment.range.upperBound..<next]
                continue
            }
            switch segment.marker {
            case 0xe0 where isHeader && data.starts(with: Self.jfif) && data.count >= Self.jfifLength:
                append(0xe0, data.prefix(Self.jfifLength - 2) + [0, 0], insteadOf: data, more: "a thumbnail in JFIF")
            case 0xee where isHeader && data.starts(with: Self.adobe) && data.count >= Self.adobeLength:
                append(0xee, data.prefix(Self.adobeLength), insteadOf: data, more: "an Adobe segment with more bytes")
            case 0xe2 where isHeader && hasPlainProfile && data.starts(with: ColourProfile.header):
                photo += jpeg[segment.range]
            case 0xe1 where isHeader && !hasEXIF && data.starts(with: TIFFStructure.exifMark):
                hasEXIF = true
                let fields = ExifFields(Array(data.dropFirst(TIFFStructure.exifMark.count)))
                others += fields.others
                append(
                    0xe1, fields.bytes.isEmpty ? [] : TIFFStructure.exifMark + fields.bytes, insteadOf: data,
                    more: fields.form)
            default: others.append(Self.name(segment.marker, data))
            }
        }
        photo += [0xff, 0xd9]
        if end < jpeg.count { others.append("\(jpeg.count - end) bytes after the picture") }
        if others.isEmpty && !photo.hasBytes(of: jpeg) { others = ["bytes between its segments"] }
    }

    /// Writes a segment anew.
    ///
    /// - Parameter more: Names what else the original has, if nothing else was named.
    private mutating func append(
        _ marker: UInt8, _ data: some Collection<UInt8>, insteadOf original: ArraySlice<UInt8>, more: String?
    ) {
        if let more, !original.elementsEqual(data) { others.append(more) }
        guard !data.isEmpty else { return }
        photo += [0xff, marker, UInt8((data.count + 2) >> 8), UInt8((data.count + 2) & 0xff)] + data
    }

    private static let names: [(marker: UInt8, start: String, name: String)] = [
        (0xe1, "Exif", "another EXIF segment"), (0xe1, "http://ns.adobe.com/", "XMP"),
        (0xe2, "MPF\0", "an index of other pictures (MPF)"),
        (0xe2, "ICC_PROFILE\0", "a colour profile that is not as listed"), (0xeb, "JP", "JUMBF (C2PA)"),
        (0xed, "Photoshop", "IPTC or other fields of Photoshop"), (0xfe, "", "a comment"),
        (0xdc, "", "a DNL segment"), (0xde, "", "a DHP segment"), (0xdf, "", "an EXP segment"),
    ]

    private static func name(_ marker: UInt8, _ data: ArraySlice<UInt8>) -> String {
        let known = names.first { $0.marker == marker && data.starts(with: $0.start.utf8) }
        return known?.name ?? ((0xe0...0xef).contains(marker) ? "an APP\(marker - 0xe0) segment" : "a private segment")
    }
}

/// A segment that describes the picture, and whose length follows from its own fields (ITU-T T.81 annex B).
private enum JPEGPart {
    case frame, scan, huffmanTables, arithmeticTables, quantisationTables, restartInterval

    init?(_ marker: UInt8) {
        switch marker {
        case 0xc4: self = .huffmanTables
        case 0xcc: self = .arithmeticTables
        case 0xc0...0xc7, 0xc9...0xcf: self = .frame
        case 0xda: self = .scan
        case 0xdb: self = .quantisationTables
        case 0xdd: self = .restartInterval
        default: return nil
        }
    }

    /// How many bytes of the data its fields take. What follows them has no meaning.
    ///
    /// - Returns: nil if the fields are cut short, and for a frame that does not say its number of lines.
    func length(in data: ArraySlice<UInt8>) -> Int? {
        let data = Array(data)
        let length: Int
        switch self {
        case .frame:
            guard data.count >= 6, data[1] != 0 || data[2] != 0 else { return nil }
            length = 6 + 3 * Int(data[5])
        case .scan: length = 4 + 2 * Int(data.first ?? 0)
        case .restartInterval: length = 2
        case .huffmanTables:
            return Self.tables(in: data) { table in
                table.count < 17 ? nil : 17 + table.dropFirst().prefix(16).reduce(0) { $0 + Int($1) }
            }
        case .quantisationTables:
            return Self.tables(in: data) { table in table.first.map { $0 >> 4 == 0 ? 65 : 129 } }
        case .arithmeticTables: return Self.tables(in: data) { _ in 2 }
        }
        return length <= data.count ? length : nil
    }

    /// The length of the whole tables at the beginning. Each begins with one of two classes and
    /// one of four destinations.
    private static func tables(in data: [UInt8], length: (ArraySlice<UInt8>) -> Int?) -> Int? {
        var end = 0
        while end < data.count, data[end] >> 4 < 2, data[end] & 0x0f < 4, let next = length(data[end...]),
            end + next <= data.count
        { end += next }
        return end > 0 ? end : nil
    }
}

/// The colour profile of a photo, which may be in several segments (ICC.1:2022 annex B.4).
private struct ColourProfile {
    static let header = Array("ICC_PROFILE\0".utf8)
    private static let headLength = 128
    private static let entryLength = 12
    private static let tags = Set(
        [
            "A2B0", "A2B1", "A2B2", "B2A0", "B2A1", "B2A2", "bTRC", "bXYZ", "bkpt", "chad", "chrm", "cicp", "cprt",
            "desc", "dmdd", "dmnd", "gTRC", "gXYZ", "gamt", "kTRC", "lumi", "meas", "rTRC", "rXYZ", "tech", "view",
            "vued", "wtpt",
        ].map { Array($0.utf8) })

    private var bytes: [UInt8] = []

    /// nil if the parts are not numbered from 1 to their number.
    init?(_ jpeg: [UInt8], _ image: JPEGSegments) {
        let parts = image.segments(0xe2, beginningWith: Self.header, in: jpeg).map { jpeg[$0.data].dropFirst(12) }
        for (index, part) in parts.enumerated() {
            guard part.count >= 2, part[part.startIndex] == index + 1, part[part.startIndex + 1] == parts.count else {
                return nil
            }
            bytes += part.dropFirst(2)
        }
    }

    /// Whether the profile consists of listed tags and nothing else.
    var isPlain: Bool {
        guard bytes.count >= Self.headLength + 4, number(0) == bytes.count else { return false }
        let count = number(Self.headLength)
        var end = Self.headLength + 4 + count * Self.entryLength
        guard count <= Self.tags.count, end <= bytes.count, isFilling(100..<Self.headLength, limit: 28) else {
            return false
        }
        var places: [(start: Int, end: Int)] = []
        for entry in stride(from: Self.headLength + 4, to: end, by: Self.entryLength) {
            let start = number(entry + 4)
            places.append((start, start + number(entry + 8)))
            guard Self.tags.contains(Array(bytes[entry..<(entry + 4)])) else { return false }
        }
        for place in places.sorted(by: { $0.start < $1.start }) {
            guard place.end <= bytes.count, place.start <= end || isFilling(end..<place.start) else { return false }
            end = max(end, place.end)
        }
        return isFilling(end..<bytes.count)
    }

    private func isFilling(_ range: Range<Int>, limit: Int = 3) -> Bool {
        range.count <= limit && bytes[range].allSatisfy { $0 == 0 }
    }

    private func number(_ offset: Int) -> Int { bytes[offset..<(offset + 4)].reduce(0) { $0 << 8 | Int($1) } }
}
