import CaptureBundle
import CaptureNative
import CaptureTestSupport
import Foundation
import Testing

/// An unusual photo that decoders open is packed with a warning.
struct JPEGStructureTests {
    private static let photo = RawFolder.photo
    private static let scan = photo.count - 13
    private static let exif = JPEGPieces.exifWithPosition

    /// Unusual bytes before, between and after the segments of a photo: name, photo, and words of the expected warning.
    static let odd: [(String, @Sendable (_ more: [UInt8]) -> [UInt8], String?)] = [
        ("as it should be", { JPEGPieces.photo(with: $0) }, nil),
        ("fill bytes", { JPEGPieces.photo(with: [0xff, 0xff, 0xff] + $0) }, nil),
        (
            "stray bytes", { JPEGPieces.photo(with: [1, 2, 3] + $0, at: 71) },
            "bytes from 71 to 74 are not in a segment"
        ),
        (
            "stray bytes with 0xff", { JPEGPieces.photo(with: [0xff, 0, 9] + $0, at: 71) },
            "the two bytes at 71 are not a marker"
        ),
        ("a length too small", { JPEGPieces.photo(with: [0xff, 0xe5, 0, 1] + $0) }, "at byte 2 has a bad length"),
        (
            "a length too large", { JPEGPieces.photo(with: [0xff, 0xe5, 0xff, 0xff] + $0) },
            "at byte 2 has a bad length"
        ),
        ("an end before the scan", { JPEGPieces.photo(with: [0xff, 0xd9] + $0) }, "before the first scan, at byte 2"),
        ("a second start", { JPEGPieces.photo(with: [0xff, 0xd8] + $0) }, "a second image begins at byte 2"),
        ("no frame", { Array(photo[..<2]) + $0 + photo[scan...] }, "has no frame header"),
        ("no end", { JPEGPieces.photo(with: $0).dropLast(2) }, "no end marker"),
        ("in the scan", { Array(photo.dropLast(2)) + $0 + photo.suffix(2) }, nil),
        (
            "in the scan, which goes on",
            { Array(photo.dropLast(2)) + JPEGPieces.segment(0xfe, []) + $0 + [7, 0xff, 0xd9] }, "are not in a segment"
        ),
        ("after the end", { photo + $0 }, nil),
        ("after the end and stray bytes", { photo + [0, 0, 0xff, 0xff, 0xe1, 0, 0] + $0 }, nil),
        ("in a second image", { JPEGPieces.photo(andSecond: JPEGPieces.photo(with: $0)) }, nil),
        ("in a thumbnail", { JPEGPieces.photo(with: JPEGPieces.segment(0xe5, JPEGPieces.photo(with: $0))) }, nil),
    ]

    @Test(arguments: odd.indices)
    func warnsOfWhatIsOddAndGoesOn(_ index: Int) throws {
        let (name, make, words) = Self.odd[index]
        let plain = try JPEGStructure(make([]))
        #expect((plain.oddity == nil) == (words == nil), "\(name): \(plain.oddity ?? "")")
        #expect(plain.oddity?.contains(words ?? "") ?? true, "\(name): \(plain.oddity ?? "")")
    }

    @Test(arguments: [Array("Description ".utf8) + [0xa2, 0xa2], Array("%PDF-1.7 ".utf8), [0x89, 0x50, 0x4e, 0x47]])
    func saysTheSameOfAnotherFileInPieces(_ bytes: [UInt8]) throws {
        var walk = JPEGWalk(size: bytes.count)
        let whole = #expect(throws: JPEGStructure.Failure.self) { try JPEGStructure(bytes) }
        let inPieces = #expect(throws: JPEGStructure.Failure.self) {
            for byte in bytes { try walk.consume([byte].span) }
            _ = try walk.finish()
        }
        #expect(whole?.message == inPieces?.message && whole?.kind?.words == inPieces?.kind?.words)
    }

    @Test func saysTheSameOfAPhotoInPieces() throws {
        for (name, make, _) in Self.odd {
            for bytes in [make([]), make(Self.exif), make([UInt8](repeating: 0xff, count: 70_000) + Self.exif)] {
                let whole = try JPEGStructure(bytes)
                for size in [1, 7, 65_536] where size > 1 || bytes.count < 1000 {
                    var walk = JPEGWalk(size: bytes.count)
                    for piece in bytes.pieces(of: size) { try walk.consume(piece.span) }
                    #expect(try walk.finish() == whole, "\(name) in pieces of \(size)")
                }
            }
        }
    }
}
