/// Builds EXIF in either byte order, from which tests make photos.
public struct ExifBuilder: Sendable {
    /// One field: its value is made for a byte order.
    public struct Field: Sendable {
        let tag: Int
        let type: Int
        let count: Int
        let value: @Sendable (_ isLittle: Bool) -> [UInt8]

        public static func text(_ tag: Int, _ text: String) -> Field {
            Field(tag: tag, type: 2, count: text.utf8.count + 1) { _ in Array(text.utf8) + [0] }
        }

        public static func short(_ tag: Int, _ number: Int) -> Field {
            Field(tag: tag, type: 3, count: 1) { ExifBuilder.bytes(number, 2, $0) }
        }

        public static func bytes(_ tag: Int, type: Int = 7, _ bytes: [UInt8]) -> Field {
            Field(tag: tag, type: type, count: bytes.count) { _ in bytes }
        }

        public static func rationals(_ tag: Int, _ pairs: [(Int, Int)]) -> Field {
            Field(tag: tag, type: 5, count: pairs.count) { isLittle in
                pairs.flatMap { ExifBuilder.bytes($0.0, 4, isLittle) + ExifBuilder.bytes($0.1, 4, isLittle) }
            }
        }

        fileprivate static func long(_ tag: Int, _ number: Int) -> Field {
            Field(tag: tag, type: 4, count: 1) { ExifBuilder.bytes(number, 4, $0) }
        }
    }

    public var isLittle: Bool
    public var main: [Field] = []
    public var exif: [Field] = []
    public var gps: [Field] = []

    public init(isLittle: Bool) { self.isLittle = isLittle }

    /// A made-up position, and the fields that phones write with it.
    public static let gpsFields: [Field] = [
        .text(1, "S"), .rationals(2, [(12, 1), (30, 1), (3600, 100)]), .text(3, "W"),
        .rationals(4, [(45, 1), (15, 1), (0, 1)]), .bytes(5, type: 1, [0]), .rationals(6, [(35, 10)]),
        .rationals(7, [(14, 1), (9, 1), (2453, 100)]), .text(29, "2026:03:14"), .rationals(31, [(5, 1)]),
    ]

    /// The TIFF bytes: the main directory, then those of EXIF and GPS, each with its values behind it.
    public var tiff: [UInt8] {
        // Lengths do not depend on the pointers, so a first pass with zeros gives the offsets.
        func directories(_ exifOffset: Int, _ gpsOffset: Int) -> [[UInt8]] {
            var pointers: [Field] = []
            if !exif.isEmpty { pointers.append(.long(0x8769, exifOffset)) }
            if !gps.isEmpty { pointers.append(.long(0x8825, gpsOffset)) }
            return [
                directory(main + pointers, at: 8), exif.isEmpty ? [] : directory(exif, at: exifOffset),
                gps.isEmpty ? [] : directory(gps, at: gpsOffset),
            ]
        }
        let lengths = directories(0, 0).map(\.count)
        let exifOffset = 8 + lengths[0]
        let header = (isLittle ? Array("II".utf8) : Array("MM".utf8)) + Self.bytes(42, 2, isLittle)
        return header + Self.bytes(8, 4, isLittle)
            + directories(exifOffset, exifOffset + lengths[1]).flatMap { $0 }
    }

    /// An APP1 segment with these fields.
    public var segment: [UInt8] { JPEGPieces.segment(0xe1, Array("Exif\0\0".utf8) + tiff) }

    private func directory(_ fields: [Field], at offset: Int) -> [UInt8] {
        var entries = Self.bytes(fields.count, 2, isLittle)
        var values: [UInt8] = []
        let start = offset + 2 + 12 * fields.count + 4
        for field in fields.sorted(by: { $0.tag < $1.tag }) {
            entries += Self.bytes(field.tag, 2, isLittle) + Self.bytes(field.type, 2, isLittle)
            entries += Self.bytes(field.count, 4, isLittle)
            let value = field.value(isLittle)
            if value.count <= 4 {
                entries += value + [UInt8](repeating: 0, count: 4 - value.count)
            } else {
                entries += Self.bytes(start + values.count, 4, isLittle)
                values += value + (value.count % 2 == 0 ? [] : [0])
            }
        }
        return entries + [0, 0, 0, 0] + values
    }

    private static func bytes(_ number: Int, _ length: Int, _ isLittle: Bool) -> [UInt8] {
        let bytes = (0..<length).map { UInt8(truncatingIfNeeded: number >> (8 * $0)) }
        return isLittle ? bytes : bytes.reversed()
    }
}
