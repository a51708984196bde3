/// A TIFF structure (TIFF 6.0 section 2): the form in which EXIF, MPF and TIFF files keep their fields.
///
/// All offsets count from the first byte of the structure. Pointers are followed only when the caller asks for it, so a
/// directory that points to itself does no harm. A caller that follows pointers has to remember the offsets it has read.
package struct TIFFStructure {
    let bytes: [UInt8]
    let isLittleEndian: Bool

    static let headerLength = 8
    /// What comes before EXIF in a JPEG.
    package static let exifMark = Array("Exif\0\0".utf8)

    /// Creates the structure; nil unless the bytes begin with a TIFF header.
    package init?(_ bytes: [UInt8]) {
        let isLittle = bytes.starts(with: [0x49, 0x49])
        guard isLittle || bytes.starts(with: [0x4d, 0x4d]) else { return nil }
        self.bytes = bytes
        isLittleEndian = isLittle
        guard number(at: 2, length: 2) == 42, number(at: 4, length: 4) != nil else { return nil }
    }

    package var firstDirectory: Int { number(at: 4, length: 4) ?? 0 }

    /// The unsigned number of 1 to 4 bytes at an offset; nil beyond the end.
    package func number(at offset: Int, length: Int) -> Int? {
        guard offset >= 0, offset <= bytes.count - length else { return nil }
        let field = bytes[offset..<(offset + length)]
        return isLittleEndian
            ? field.reversed().reduce(0) { $0 << 8 | Int($1) } : field.reduce(0) { $0 << 8 | Int($1) }
    }

    /// The directory to which the entry with this tag points.
    func directory(of tag: Int, in directory: TIFFDirectory) -> TIFFDirectory? {
        guard let entry = directory[tag], let target = unsigned(entry) else { return nil }
        return target == directory.offset ? nil : TIFFDirectory(self, offset: target)
    }

    /// The bytes of an entry's value; nil if they do not lie within the structure.
    func value(_ entry: TIFFDirectory.Entry) -> ArraySlice<UInt8>? { entry.value.map { bytes[$0] } }

    /// The unsigned integer of an entry: BYTE, SHORT, LONG or IFD.
    func unsigned(_ entry: TIFFDirectory.Entry, at index: Int = 0) -> Int? {
        guard [1, 3, 4, 13].contains(entry.type), let (range, length) = element(of: entry, index) else { return nil }
        return number(at: range, length: length)
    }

    /// The quotient of a RATIONAL or SRATIONAL; nil if its denominator is 0.
    func rational(_ entry: TIFFDirectory.Entry, at index: Int = 0) -> Double? {
        guard entry.type == 5 || entry.type == 10, let (place, _) = element(of: entry, index),
            let above = number(at: place, length: 4), let below = number(at: place + 4, length: 4), below != 0
        else { return nil }
        guard entry.type == 10 else { return Double(above) / Double(below) }
        func signed(_ value: Int) -> Double { Double(Int32(truncatingIfNeeded: value)) }
        return signed(above) / signed(below)
    }

    /// The text of an ASCII entry up to its first NUL, without spaces at both ends; nil if the text is empty, longer than
    /// 256 bytes, not UTF-8, or has control characters.
    func text(_ entry: TIFFDirectory.Entry) -> String? {
        guard entry.type == 2, let value = value(entry) else { return nil }
        let bytes = value.prefix { $0 != 0 }
        guard bytes.count <= 256, bytes.allSatisfy({ $0 >= 0x20 && $0 != 0x7f }),
            let text = String(validating: bytes, as: UTF8.self)?.trimmed
        else { return nil }
        return text.isEmpty ? nil : text
    }

    private func element(of entry: TIFFDirectory.Entry, _ index: Int) -> (offset: Int, length: Int)? {
        guard let value = entry.value, index < entry.count else { return nil }
        let length = TIFFDirectory.lengths[entry.type] ?? 1
        return (value.lowerBound + index * length, length)
    }
}

/// One directory of a TIFF structure.
package struct TIFFDirectory {
    /// One field of a directory.
    package struct Entry {
        let tag: Int
        let type: Int
        let count: Int
        /// The range of the value, in the entry itself or elsewhere; nil if the type is unknown or the range is not
        /// inside the structure.
        package let value: Range<Int>?
    }

    static let entryLength = 12
    /// The lengths of TIFF's types in bytes: BYTE, ASCII, SHORT, LONG, RATIONAL, …, DOUBLE, IFD; UTF-8 (EXIF 3.0).
    static let lengths = [1: 1, 2: 1, 3: 2, 4: 4, 5: 8, 6: 1, 7: 1, 8: 2, 9: 4, 10: 8, 11: 4, 12: 8, 13: 4, 129: 1]

    let offset: Int
    let entries: [Entry]
    /// The offset of the next directory; nil if there is none.
    let next: Int?

    /// Reads the directory at an offset; nil if it does not lie within the structure.
    package init?(_ tiff: TIFFStructure, offset: Int) {
        guard offset >= TIFFStructure.headerLength, let count = tiff.number(at: offset, length: 2),
            offset + 2 + count * Self.entryLength <= tiff.bytes.count
        else { return nil }
        self.offset = offset
        entries = (0..<count).compactMap { Self.entry(tiff, at: offset + 2 + $0 * Self.entryLength) }
        let end = offset + 2 + count * Self.entryLength
        next = tiff.number(at: end, length: 4).flatMap { $0 == 0 ? nil : $0 }
    }

    /// The first entry with this tag.
    package subscript(tag: Int) -> Entry? { entries.first { $0.tag == tag } }

    private static func entry(_ tiff: TIFFStructure, at offset: Int) -> Entry? {
        guard let tag = tiff.number(at: offset, length: 2), let type = tiff.number(at: offset + 2, length: 2),
            let count = tiff.number(at: offset + 4, length: 4)
        else { return nil }
        var value: Range<Int>?
        // Count and length are below 2^32 and 9, so the product fits.
        if let length = lengths[type].map({ $0 * count }) {
            let start = length <= 4 ? offset + 8 : tiff.number(at: offset + 8, length: 4) ?? .max
            if start <= tiff.bytes.count - length { value = start..<(start + length) }
        }
        return Entry(tag: tag, type: type, count: count, value: value)
    }
}

/// The tags that this library reads (EXIF 2.32, CIPA DC-008; TIFF 6.0).
enum TIFFTag {
    static let make = 0x010f
    static let model = 0x0110
    static let orientation = 0x0112
    static let software = 0x0131
    static let exif = 0x8769
    static let gps = 0x8825
    static let dateTimeOriginal = 0x9003
    static let offsetTimeOriginal = 0x9011
    static let subSecTimeOriginal = 0x9291
    static let pixelWidth = 0xa002
    static let pixelHeight = 0xa003
    static let makerNote = 0x927c
}
