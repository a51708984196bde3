import CaptureTestSupport

@testable import CaptureBundle

/// EXIF alone, as in a HEIF or PNG file.
enum ExifTarget: FuzzTarget {
    static let name = "exif"

    static func seeds(_ samples: Samples) -> [[UInt8]] {
        [true, false].flatMap { isLittle in PhotoSeeds.tiffs(isLittle: isLittle) }
    }

    static func judge(_ bytes: [UInt8]) {
        let told = Cost.bounded(bytes.count) { () -> String? in
            _ = PhotoFacts(exif: bytes)?.time?.capturedAt(offset: "+01:00")
            return PlacesTold.tellsAPosition(bytes, kind: .tiff)
        }
        guard let tiff = TIFFStructure(bytes), let clean = try? GPSRemoval.apply(to: tiff) else { return }
        expect(clean.count == bytes.count, "the removal of the position changes the length")
        guard let after = PhotoFacts(exif: clean) else { fatalError("finding: EXIF without its position is not EXIF") }
        expect(after.position == nil, "EXIF still has a position after its removal")
        let before = PhotoFacts(exif: bytes)
        // A position in a text field is no place by its tag, so it may stay, and is found afterwards.
        if told == nil {
            expect(before?.model == after.model && before?.orientation == after.orientation, "another field was lost")
        }
    }
}

/// XMP packets.
enum XMPTarget: FuzzTarget {
    static let name = "xmp"

    static func seeds(_ samples: Samples) -> [[UInt8]] { PhotoSeeds.packets }

    static func judge(_ bytes: [UInt8]) {
        let end = Cost.bounded(bytes.count) { () -> Int? in
            _ = PlacesTold.tellsAPosition(bytes, kind: .xmp)
            return XMPPacket(bytes)?.end
        }
        guard let end else { return }
        expect(end <= bytes.count, "a packet ends after its bytes")
        expect(XMPPacket(Array(bytes[..<end]))?.end == end, "a packet reads differently without what follows it")
    }
}

/// PNG files, which are searched for a position.
enum PNGTarget: FuzzTarget {
    static let name = "png"

    static func seeds(_ samples: Samples) -> [[UInt8]] {
        func chunk(_ type: String, _ data: [UInt8]) -> [UInt8] {
            [24, 16, 8, 0].map { UInt8(truncatingIfNeeded: data.count >> $0) } + Array(type.utf8) + data + [0, 0, 0, 0]
        }
        let xmp = Array("XML:com.adobe.xmp\0\0\0\0\0".utf8) + PhotoSeeds.packets[0]
        let start: [UInt8] =
            [0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a] + chunk("IHDR", Array(repeating: 0, count: 13))
        return [
            start + chunk("eXIf", PhotoSeeds.tiffs(isLittle: true)[0]) + chunk("IEND", []),
            start + chunk("iTXt", xmp) + chunk("IEND", []),
            start + chunk("tEXt", Array("Comment\0none".utf8)) + chunk("zTXt", Array("a\0\0".utf8)) + chunk("IEND", []),
        ]
    }

    static func judge(_ bytes: [UInt8]) {
        _ = Cost.bounded(bytes.count) { PlacesTold.tellsAPosition(bytes, kind: .png) }
    }
}
