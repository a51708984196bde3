import CaptureBundle
import CaptureTestSupport
import Foundation
import Testing

/// What a file is told by its first bytes, and by no more than those.
struct FileKindTests {
    static let heic = Array("\0\0\0\u{18}ftypheic\0\0\0\0mif1heic".utf8)

    static func png(depth: UInt8, colour: UInt8) -> [UInt8] {
        [0x89, 0x50, 0x4e, 0x47, 13, 10, 26, 10, 0, 0, 0, 13] + Array("IHDR".utf8)
            + [0, 0, 1, 0, 0, 0, 0, 192, depth, colour, 0, 0, 0]
    }

    static let numpy = PictureFiles.npy("<f4", [], shape: "(192, 256)")

    @Test(
        arguments: [
            (RawFolder.photo, "a JPEG photo"), (heic, "a HEIC photo"),
            (Array("\0\0\0\u{1c}ftypmif1\0\0\0\0mif1avifmiaf".utf8), "an AVIF picture"),
            (Array("\0\0\0\u{18}ftypmif1\0\0\0\0mif1miaf".utf8), "a HEIF photo"),
            (Array("\0\0\0\u{14}ftypqt  \0\0\0\0qt  ".utf8), "a QuickTime movie"),
            (Array("\0\0\0\u{14}ftypisom\0\0\0\0mp42".utf8), "an MP4 movie"),
            (png(depth: 16, colour: 0), "a 16-bit greyscale PNG, 256x192"),
            (png(depth: 8, colour: 2), "an 8-bit colour PNG, 256x192"),
            (Array(png(depth: 8, colour: 2)[..<9]), "a PNG picture"),
            ([0x49, 0x49, 0x2a, 0, 8], "a TIFF picture"), ([0x4d, 0x4d, 0, 0x2a, 0], "a TIFF picture"),
            (numpy, "a NumPy array of type <f4, shape 192 x 256"),
            (Array(numpy[..<8]), "a NumPy array"),
            ([0x76, 0x2f, 0x31, 0x01, 2], "an OpenEXR picture"), (Array("Pf\n4 3\n-1\n".utf8), "a PFM picture"),
            (Array("RIFF....WEBPVP8 ".utf8), "a WebP picture"), (Array("%PDF-1.7".utf8), "a PDF document"),
            (Array("PK\u{3}\u{4}....".utf8), "a zip archive"), ([0x1f, 0x8b, 8], "a gzip-compressed file"),
            ([0x28, 0xb5, 0x2f, 0xfd], "a zstd-compressed file"),
            (BundleMagic.bytes, "a capture bundle"), (Array(" {\"a\": 1}".utf8), "a JSON file"),
            (Array("Grüße".utf8), "a text file"),
        ] as [([UInt8], String)])
    func recognises(_ bytes: [UInt8], _ words: String) { #expect(FileKind(bytes)?.words == words) }

    @Test func saysNothingOfWhatItDoesNotKnow() {
        #expect(FileKind([]) == nil)
        #expect(FileKind(RawFolder.depth) == nil)
        for length in 1...3 { #expect(FileKind(Array(Self.png(depth: 16, colour: 0)[..<length])) == nil) }
        #expect(FileKind([0x61, 0x62, 0x89, 0x90]) == nil)
        #expect(FileKind([UInt8](repeating: 0, count: 2000)) == nil)
    }

    @Test func readsAnyBytesWithoutATrap() {
        var generator = SeededGenerator(seed: 12)
        let starts = [Self.heic, Self.png(depth: 16, colour: 0), Self.numpy, BundleMagic.bytes]
        for start in starts {
            Damage.each(start) { _ = FileKind($0) }
            for _ in 0..<100 {
                let wild = start.map { Bool.random(using: &generator) ? $0 : .random(in: 0...255, using: &generator) }
                _ = FileKind(wild)
            }
        }
    }
}
