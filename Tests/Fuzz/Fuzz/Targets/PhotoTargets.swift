import CaptureImport
import CaptureTestSupport

@testable import CaptureBundle

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
        func png(_ between: [UInt8]) -> [UInt8] {
            PictureFiles.png(
                width: 4, height: 3, bits: 8, colour: 0, rows: [[UInt8]](repeating: [0, 1, 2, 2], count: 3),
                between: between)
        }
        return [
            png([]), png(PictureFiles.chunk("eXIf", PhotoSeeds.tiffs(isLittle: true)[0])),
            png(PictureFiles.chunk("IDAT", [0x78, 0x20]) + PictureFiles.chunk("tEXt", Array("Comment\0none".utf8))),
        ]
    }

    static func judge(_ bytes: [UInt8]) {
        _ = Cost.bounded(bytes.count) { Unlisted.confidence(bytes) }
    }
}
