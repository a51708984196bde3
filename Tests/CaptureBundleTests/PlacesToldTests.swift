import CaptureBundle
import CaptureTestSupport
import Testing

/// A file that a bundle carries is searched for a position by its kind.
struct PlacesToldTests {
    private static func chunk(_ type: String, _ data: [UInt8]) -> [UInt8] { PictureFiles.chunk(type, data) }

    private static func png(_ chunks: [UInt8]) -> [UInt8] {
        [0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a] + chunk("IHDR", [UInt8](repeating: 0, count: 13)) + chunks
            + chunk("IEND", [])
    }

    private static let exif: [UInt8] = {
        var exif = ExifBuilder(isLittle: false)
        exif.gps = ExifBuilder.gpsFields
        return exif.tiff
    }()
    private static let xmp = Array(JPEGPieces.packetWithPosition.utf8)

    private static let doubled = Array("Exif\0\0Exif\0\0".utf8) + exif

    /// Photoshop's resource 0x0422, which should contain EXIF.
    private static func resources(_ data: [UInt8]) -> [UInt8] {
        let size = [0, 0, UInt8(data.count >> 8), UInt8(data.count & 0xff)]
        return JPEGPieces.segment(
            0xed, Array("Photoshop 3.0\08BIM".utf8) + [4, 0x22, 0, 0] + size + data + (data.count % 2 == 1 ? [0] : []))
    }

    static let telling: [(kind: PlacesTold.Kind, bytes: [UInt8], words: String)] = [
        (.tiff, exif, "EXIF has GPS fields"), (.tiff, Array("Exif\0\0".utf8) + exif, "EXIF has GPS fields"),
        (.xmp, xmp, "GPSLatitude"), (.xmp, Array(xmp.dropLast(60)), "cannot be read"),
        (.xmp, JPEGPieces.packetWithPosition.utf16.flatMap { [0, UInt8($0 & 0xff)] }, "cannot be read"),
        (.png, png(chunk("eXIf", exif)), "EXIF has GPS fields"),
        (.png, png(chunk("iTXt", Array("XML:com.adobe.xmp\0\0\0\0\0".utf8) + xmp)), "GPSLatitude"),
        (.png, png(chunk("iTXt", Array("XML:com.adobe.xmp\0\u{1}\0\0\0".utf8) + [1, 2])), "compressed XMP"),
        (.png, png(chunk("tEXt", Array("Raw profile type exif\0abc".utf8))), "Raw profile type exif"),
        (.png, png(chunk("tEXt", Array("Comment\0Latitude 1.5".utf8))), "latitude"),
        (.json, Array(#"{"a": {"latitude": 1}}"#.utf8), "a.latitude"),
        (.json, Array(#"{"location": 1}"#.utf8), "location"),
        (.json, Array(#"{"a": [{"gpsLatitude": 1}]}"#.utf8), "gpsLatitude"),
        (.json, Array(#"{"latitude": 1"#.utf8), "latitude"),
        (.jpeg, JPEGPieces.photo(with: JPEGPieces.exifWithPosition), "EXIF has GPS fields"),
        (.jpeg, Array(JPEGPieces.photo(with: JPEGPieces.exifWithPosition).dropLast(2)), "EXIF has GPS fields"),
        (.jpeg, RawFolder.photo + Array("moov com.apple.quicktime.location.ISO6709".utf8), "latitude"),
        (.jpeg, JPEGPieces.photo(with: JPEGPieces.segment(0xfe, Array("longitude=4".utf8))), "a comment"),
        (.jpeg, [], "cannot be searched"), (.jpeg, exif, "cannot be searched"), (.jpeg, png([]), "cannot be searched"),
        (.jpeg, [0] + RawFolder.photo, "cannot be searched"),
        (.jpeg, [0xff, 0xd8] + Array("junk".utf8) + RawFolder.photo.dropFirst(2), "cannot be searched"),
        (.jpeg, RawFolder.photo + exif, "follows the picture"),
        (.jpeg, RawFolder.photo + [1] + Array("Exif\0\0".utf8), "follows the picture"),
        (.jpeg, JPEGPieces.photo(with: JPEGPieces.segment(0xe1, doubled)), "cannot be read"),
        (.jpeg, JPEGPieces.photo(with: JPEGPieces.segment(0xe1, Array("12345Exif\0\0".utf8) + exif)), "cannot be read"),
        (.jpeg, JPEGPieces.photo(with: JPEGPieces.segment(0xe3, Array("Meta\0\0".utf8) + exif)), "contains EXIF"),
        (.jpeg, JPEGPieces.photo(with: resources(doubled)), "cannot be read"),
        (.png, exif, "cannot be searched"), (.png, [], "cannot be searched"),
        (.png, png(chunk("eXIf", doubled)), "cannot be read"),
        (.png, png(chunk("zTXt", Array("Comment\0\0".utf8) + [1])), "compressed text"),
        (.png, png(chunk("iTXt", Array("Comment\0\u{1}\0\0\0".utf8) + [1])), "compressed text"),
        (.png, png([]) + exif, "cannot be searched"), (.png, png(chunk("prVt", Array("latitude".utf8))), "latitude"),
    ]

    @Test(arguments: telling.indices)
    func saysWhatTellsAPosition(_ index: Int) {
        let (kind, bytes, words) = Self.telling[index]
        let told = PlacesTold.tellsAPosition(bytes, kind: kind)
        #expect(told?.contains(words) ?? false, "\(told ?? "nothing")")
    }

    static let silent: [(kind: PlacesTold.Kind, bytes: [UInt8])] = [
        (.tiff, ExifBuilder(isLittle: true).tiff), (.tiff, []), (.png, png([])), (.json, Array("{}".utf8)),
        (.json, Array(#"{"time": 1, "gpsTime": 2}"#.utf8)), (.jpeg, RawFolder.photo),
        (.jpeg, JPEGPieces.photo(with: JPEGPieces.segment(0xfe, Array("no place".utf8)))),
        (.xmp, Array("<a/>".utf8)), (.png, png(chunk("tEXt", Array("Software\0Rig".utf8)))),
    ]

    @Test(arguments: silent.indices)
    func saysNothingOfOtherFiles(_ index: Int) {
        let (kind, bytes) = Self.silent[index]
        #expect(PlacesTold.tellsAPosition(bytes, kind: kind) == nil)
    }

    @Test func survivesTruncationsAndBitFlips() {
        for (kind, bytes, _) in Self.telling {
            Damage.each(bytes, count: 30) { _ = PlacesTold.tellsAPosition($0, kind: kind) }
        }
    }
}
