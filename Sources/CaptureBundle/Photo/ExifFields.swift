/// EXIF with only the listed fields, in the one form that they may have (Spec/raw-captures.md section 7).
struct ExifFields {
    /// The TIFF structure with those fields; empty if there are none.
    private(set) var bytes: [UInt8] = []
    /// Names what else the original has.
    private(set) var others: [String] = []
    /// The words for an original that has only these fields but in other bytes; nil if `others` names something.
    var form: String? { others.isEmpty ? "EXIF in another arrangement" : nil }

    private enum Form { case text, version, integer, rational }

    private struct Field {
        let tag: Int
        let type: Int
        let count: Int
        let value: [UInt8]
    }

    private static let main: [Int: Form] = [
        TIFFTag.make: .text, TIFFTag.model: .text, TIFFTag.software: .text, 0x0132: .text,
        TIFFTag.orientation: .integer, 0x0128: .integer, 0x011a: .rational, 0x011b: .rational,
    ]

    private static let exif: [Int: Form] = {
        let texts = [0x9003, 0x9004, 0x9010, 0x9011, 0x9012, 0x9290, 0x9291, 0x9292, 0xa433, 0xa434]
        let rationals = [0x829a, 0x829d, 0x9201, 0x9202, 0x9204, 0x9205, 0x920a]
        let integers = [
            0x8822, 0x8827, 0x8830, 0x8831, 0x8832, 0x8833, 0x9207, 0x9209, 0xa001, 0xa002, 0xa003, 0xa402, 0xa403,
            0xa405,
        ]
        let forms = [(texts, Form.text), ([0x9000, 0xa000], .version), (rationals, .rational), (integers, .integer)]
        return Dictionary(uniqueKeysWithValues: forms.flatMap { tags, form in tags.map { ($0, form) } })
    }()

    private static let textLimit = 64

    /// - Parameter tiff: The bytes after `Exif` NUL NUL.
    init(_ tiff: [UInt8]) {
        guard let tiff = TIFFStructure(tiff), let main = TIFFDirectory(tiff, offset: tiff.firstDirectory) else {
            others = ["EXIF that cannot be read"]
            return
        }
        var fields = read(main, Self.main, in: tiff)
        let inner = tiff.directory(of: TIFFTag.exif, in: main).map { read($0, Self.exif, in: tiff) } ?? []
        if main.next != nil { others.append("a thumbnail") }
        guard !fields.isEmpty || !inner.isEmpty else { return }
        let header = Array(tiff.bytes.prefix(4)) + number(TIFFStructure.headerLength, 4, like: tiff)
        if !inner.isEmpty {
            // The pointer to the inner directory is itself an entry of the first.
            let length = directory(fields, at: header.count, like: tiff).count + TIFFDirectory.entryLength
            let place = number(header.count + length, 4, like: tiff)
            fields.append(Field(tag: TIFFTag.exif, type: 4, count: 1, value: place))
        }
        bytes = header + directory(fields, at: header.count, like: tiff)
        if !inner.isEmpty { bytes += directory(inner, at: bytes.count, like: tiff) }
    }

    /// The listed fields of a directory, in the order of their tags.
    private mutating func read(_ directory: TIFFDirectory, _ list: [Int: Form], in tiff: TIFFStructure) -> [Field] {
        var fields: [Field] = []
        var seen: Set<Int> = []
        for entry in directory.entries {
            // As everywhere, only the first field with a tag counts.
            let isFirst = seen.insert(entry.tag).inserted
            if isFirst, let form = list[entry.tag], let field = Self.field(entry, form, in: tiff) {
                fields.append(field)
            } else if !isFirst || entry.tag != TIFFTag.exif {
                others.append(Self.name(entry.tag))
            }
        }
        return fields.sorted { $0.tag < $1.tag }
    }

    /// A field in its listed form; nil if it has another form.
    private static func field(_ entry: TIFFDirectory.Entry, _ form: Form, in tiff: TIFFStructure) -> Field? {
        guard let value = tiff.value(entry) else { return nil }
        func isPrintable(_ bytes: ArraySlice<UInt8>) -> Bool { bytes.allSatisfy { (0x20...0x7e).contains($0) } }
        let isListed: Bool
        switch form {
        case .text:
            let text = value.prefix { $0 != 0 }
            guard entry.type == 2, (1...textLimit).contains(text.count), isPrintable(text) else { return nil }
            return Field(tag: entry.tag, type: entry.type, count: text.count + 1, value: text + [0])
        case .version: isListed = entry.type == 7 && entry.count == 4 && isPrintable(value)
        case .integer: isListed = (entry.type == 3 || entry.type == 4) && entry.count == 1
        case .rational: isListed = (entry.type == 5 || entry.type == 10) && entry.count == 1
        }
        return isListed ? Field(tag: entry.tag, type: entry.type, count: entry.count, value: Array(value)) : nil
    }

    private static func name(_ tag: Int) -> String {
        switch tag {
        case TIFFTag.gps: "GPS fields"
        case TIFFTag.makerNote: "a maker note"
        default: "the EXIF field 0x\(Hex.encode([UInt8(tag >> 8), UInt8(tag & 0xff)]))"
        }
    }

    private func number(_ value: Int, _ length: Int, like tiff: TIFFStructure) -> [UInt8] {
        let bytes = (0..<length).map { UInt8(truncatingIfNeeded: value >> (8 * $0)) }
        return tiff.isLittleEndian ? bytes : bytes.reversed()
    }

    /// A directory with the values behind it that do not fit an entry.
    private func directory(_ fields: [Field], at offset: Int, like tiff: TIFFStructure) -> [UInt8] {
        var entries = number(fields.count, 2, like: tiff)
        var values: [UInt8] = []
        let start = offset + 2 + fields.count * TIFFDirectory.entryLength + 4
        for field in fields {
            entries += number(field.tag, 2, like: tiff) + number(field.type, 2, like: tiff)
            entries += number(field.count, 4, like: tiff)
            if field.value.count <= 4 {
                entries += field.value + [UInt8](repeating: 0, count: 4 - field.value.count)
            } else {
                entries += number(start + values.count, 4, like: tiff)
                values += field.value + [UInt8](repeating: 0, count: field.value.count % 2)
            }
        }
        return entries + [0, 0, 0, 0] + values
    }
}

/// The times in EXIF: the camera's clock with or without its offset from UTC, and the GPS time.
package struct ExifTime: Hashable, Sendable {
    /// The local time, DateTimeOriginal with the digits of SubSecTimeOriginal, such as `2018-08-28T20:22:12.138`.
    package let local: String
    /// The offset from UTC, OffsetTimeOriginal, such as `+07:00`; nil if EXIF does not have it.
    package let offset: String?
    /// The GPS time in UTC, GPSDateStamp and GPSTimeStamp, such as `2018-08-28T11:22:07.610Z`.
    package let satellites: CaptureTime?

    /// - Parameters:
    ///   - local: DateTimeOriginal, such as `2018:08:28 20:22:12`.
    ///   - fraction: SubSecTimeOriginal, such as `138`.
    ///   - offset: OffsetTimeOriginal, such as `+09:00`.
    init?(local: String, fraction: String?, offset: String?, satellites: CaptureTime?) {
        let bytes = Array(local.utf8)
        guard bytes.count == 19, bytes[4] == UInt8(ascii: ":"), bytes[7] == UInt8(ascii: ":"),
            bytes[10] == UInt8(ascii: " ")
        else { return nil }
        let day = [bytes[..<4], bytes[5..<7], bytes[8..<10]].map { String(decoding: $0, as: UTF8.self) }
        let whole = "\(day[0])-\(day[1])-\(day[2])T\(String(decoding: bytes[11...], as: UTF8.self))"
        guard CaptureTime(whole + "Z") != nil else { return nil }
        let digits = fraction.map { ".\($0)" } ?? ""
        self.local = CaptureTime(whole + digits + "Z") == nil ? whole : whole + digits
        // A text such as ".5Z" would be decimals of the second with an offset.
        self.offset = offset.flatMap { text in
            let isZone = text.utf8.first.map("Z+-".utf8.contains) ?? false
            return isZone && CaptureTime(whole + text) != nil ? text : nil
        }
        self.satellites = satellites
    }

    /// The time of the capture as RFC 3339 text with an offset, for `CaptureTime`; nil if EXIF does not give the offset.
    ///
    /// If EXIF has no offset field, the offset is the local time minus the GPS time, rounded to 15 minutes. Rounding may
    /// change it by less than 5 minutes, since a position can be older than the picture. If it changes it by more, or
    /// the offset is outside -14 to +14 hours, one of the clocks is wrong, and the offset is unknown.
    package var capturedAt: String? {
        if let offset { return local + offset }
        guard let satellites, let asUTC = CaptureTime(local + "Z") else { return nil }
        let difference = asUTC.milliseconds - satellites.milliseconds
        let quarter = 15 * 60_000
        let quarters = Int((Double(difference) / Double(quarter)).rounded())
        guard abs(difference - quarters * quarter) < 5 * 60_000, abs(quarters) <= 14 * 4 else { return nil }
        let (hours, minutes) = (abs(quarters) / 4, abs(quarters) % 4 * 15)
        return capturedAt(offset: "\(quarters < 0 ? "-" : "+")\(hours, 2):\(minutes, 2)")
    }

    /// The local time with an offset that the user gives, such as `Z` or `+01:00`; nil if the text is not an offset.
    package func capturedAt(offset: String) -> String? {
        CaptureTime(local + offset) == nil ? nil : local + offset
    }
}
