import CaptureTestSupport

@testable import CaptureBundle
@testable import CaptureImport

/// EXIF alone, as in a HEIF or PNG file.
enum ExifTarget: FuzzTarget {
    static let name = "exif"

    static func seeds(_ samples: Samples) -> [[UInt8]] {
        [true, false].flatMap { isLittle in PhotoSeeds.tiffs(isLittle: isLittle) }
    }

    static func judge(_ bytes: [UInt8]) {
        _ = Cost.bounded(bytes.count) { PhotoFacts(exif: bytes)?.time?.capturedAt(offset: "+01:00") }
        let fields = Cost.bounded(bytes.count) { ExifFields(bytes) }
        guard !fields.bytes.isEmpty else { return }
        expect(ExifFields(fields.bytes).bytes == fields.bytes, "a second time changes the fields")
        let (before, after) = (PhotoFacts(exif: bytes), PhotoFacts(exif: fields.bytes))
        expect(after != nil && after?.position == nil, "EXIF with only the listed fields has a position")
        expect(after?.orientation == nil || after?.orientation == before?.orientation, "another orientation")
    }
}

/// XMP packets.
enum XMPTarget: FuzzTarget {
    static let name = "xmp"

    static func seeds(_ samples: Samples) -> [[UInt8]] { PhotoSeeds.packets }

    static func judge(_ bytes: [UInt8]) {
        _ = Cost.bounded(bytes.count) { XMPPacket(bytes) }
    }
}

/// The chunks of PNG files.
enum PNGTarget: FuzzTarget {
    static let name = "png"

    static func seeds(_ samples: Samples) -> [[UInt8]] {
        func chunk(_ type: String, _ data: [UInt8]) -> [UInt8] {
            [24, 16, 8, 0].map { UInt8(truncatingIfNeeded: data.count >> $0) } + Array(type.utf8) + data + [0, 0, 0, 0]
        }
        let start: [UInt8] =
            [0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a] + chunk("IHDR", Array(repeating: 0, count: 13))
        return [
            start + chunk("eXIf", PhotoSeeds.tiffs(isLittle: true)[0]) + chunk("IEND", []),
            start + chunk("tEXt", Array("Comment\0none".utf8)) + chunk("zTXt", Array("a\0\0".utf8)) + chunk("IEND", []),
        ]
    }

    static func judge(_ bytes: [UInt8]) {
        _ = Cost.bounded(bytes.count) { Unlisted.confidence(bytes) }
    }
}
