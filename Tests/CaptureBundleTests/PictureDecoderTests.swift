import CaptureBundle
import CaptureNative
import CaptureTestSupport
import Foundation
import PictureClient
import PictureMessages
import Testing

/// What comes back from the real `capbundle-decode`.
struct PictureDecoderTests {
    let decoder = PictureDecoder()

    @Test func givesTheSamplesOfAn8BitPNG() throws {
        let file = PictureFiles.png(width: 2, height: 2, bits: 8, colour: 0, rows: [[0, 1], [2, 255]])
        #expect(try decoder.samples(file, .png).uint8 == [0, 1, 2, 255])
    }

    @Test func givesHalfFloatsAsTheSameFloats() throws {
        // One of each kind: zero, least subnormal, 1, 1/3, largest, infinity, NaN, negative.
        let halves: [UInt16] = [0, 1, 0x3c00, 0x3555, 0x7bff, 0x7c00, 0x7e00, 0xc000]
        let grid = try decoder.samples(PictureFiles.exr(width: 4, height: 2, halves: halves), .openEXR)
        let floats = try #require(grid.float32)
        for (half, float) in zip(halves, floats) {
            let expected = Float(Float16(bitPattern: half))
            #expect(float.bitPattern == expected.bitPattern || (float.isNaN && expected.isNaN))
        }
    }

    /// The photo of the sample, as HEIC by libheif's own encoder.
    @Test(
        .enabled(
            if: FileManager.default.isExecutableFile(atPath: "/usr/bin/heif-enc"), "needs Debian's libheif-examples"))
    func decodesAHEICPhoto() throws {
        let folder = try TemporaryFolder()
        let jpeg = Places.sample.appending(path: "raw/photo.jpg")
        let made = try Program.run(
            URL(filePath: "/usr/bin/heif-enc"), [jpeg.path(), "-o", "photo.heic"], in: folder.url, environment: [:])
        #expect(made.exitCode == 0)
        let file = try folder.bytes("photo.heic")
        let picture = try decoder.heif(file, withPhoto: true)
        let photo = try decoder.pixels(#require(picture.photo), .jpeg)
        let expected = try decoder.pixels(jpeg.bytes, .jpeg)
        #expect(photo.distance(to: expected) < 4)
        #expect(picture.depth == nil)
        #expect(try decoder.heif(file, withPhoto: false).photo == nil)
        for count in [0, 100, file.count - 1] {
            #expect(throws: PictureFailure.self) { try decoder.heif(Array(file[..<count]), withPhoto: true) }
        }
    }

    /// The clean aperture begins at column 3 and row 1.
    @Test(
        .enabled(
            if: FileManager.default.isExecutableFile(atPath: "/usr/bin/heif-enc"), "needs Debian's libheif-examples"))
    func cropsAHEICPhotoAsItSays() throws {
        let folder = try TemporaryFolder()
        let image = try #require(PixelImage.pattern(width: 75, height: 41))
        try folder.write(decoder.jpeg(image, quality: 95), to: "photo.jpg")
        try folder.shell("heif-enc photo.jpg -o photo.heic")
        let file = try Self.withAperture(folder.bytes("photo.heic"), [71, 1, 37, 1, 2, 2, -1, 1])
        let photo = try decoder.pixels(#require(decoder.heif(file, withPhoto: true).photo), .jpeg)
        var rgb: [UInt8] = []
        for row in 1..<38 { rgb += image.rgb[(225 * row + 9)..<(225 * row + 222)] }
        #expect(try photo.distance(to: #require(PixelImage(width: 71, height: 37, rgb: rgb))) < 4)
        // A wider aperture is outside of the picture; one of half a pixel is of an unknown kind.
        let start = try #require(file.indices.first { file[$0...].starts(with: Array("clap".utf8)) })
        for (place, byte, kind) in [(start + 7, 255, .malformed), (start + 11, 2, .unsupported)]
            as [(Int, UInt8, PictureFailure.Kind)]
        {
            var changed = file
            changed[place] = byte
            let failure = #expect(throws: PictureFailure.self) { try decoder.heif(changed, withPhoto: true) }
            #expect(failure?.kind == kind)
        }
    }

    /// Adds a clean aperture to the last item of a file that heif-enc made, which is the photo.
    private static func withAperture(_ file: [UInt8], _ numbers: [Int]) throws -> [UInt8] {
        var file = file
        func start(_ kind: String) throws -> Int {
            try #require(file.indices.first { file[$0...].starts(with: Array(kind.utf8)) }) - 4
        }
        func add(_ count: Int, at place: Int) {
            let old = file[place..<(place + 4)].reduce(0) { $0 << 8 | Int($1) }
            file.replaceSubrange(place..<(place + 4), with: PictureFiles.big(old + count, 4))
        }
        let added = PictureFiles.big(40, 4) + Array("clap".utf8) + numbers.flatMap { PictureFiles.big($0, 4) }
        // The position of the first item's data is in the item locations.
        let data = PictureFiles.big(try start("mdat") + 8, 4)
        let location = try (start("iloc")..<file.count).first { file[$0...].starts(with: data) }
        add(41, at: try #require(location))
        for (kind, count) in [("meta", 41), ("iprp", 41), ("ipco", 40), ("ipma", 1)] {
            add(count, at: try start(kind))
        }
        // The association of the fifth property, which is essential, comes last in the table, behind two others.
        let end = try start("ipma") + 27
        file[end - 4] = 3
        file.insert(0x85, at: end - 1)
        file.insert(contentsOf: added, at: try start("ipma"))
        return file
    }

    @Test func namesWhatAPictureIsInsteadOfOneChannel() throws {
        let each = [UInt8](repeating: 0, count: 4)
        let image = try #require(PixelImage.pattern(width: 16, height: 16))
        for (format, file, words) in [
            (
                .tiff, PictureFiles.tiff(width: 1, height: 1, bits: 64, format: 1, strip: each + each),
                "is a TIFF of 64-bit unsigned integers"
            ),
            (
                .tiff,
                PictureFiles.tiff(
                    width: 1, height: 1, bits: 8, format: 1, strip: [1, 2, 3], samples: 3, photometric: 2),
                "is a TIFF of 3 channels, expected one"
            ),
            (.png, try decoder.png(image), "is a PNG of 8-bit RGB, expected one grey channel of 8 or 16 bits"),
            (
                .openEXR,
                PictureFiles.exr(
                    width: 1, height: 1, channels: ["B", "G", "R", "V", "Z"], pixelType: 2, each: [each]),
                "is an OpenEXR file of 5 channels (B, G, R, V, Z), expected one"
            ),
            (.jpeg, try decoder.jpeg(image, quality: 90), ""),
        ] as [(PictureDecoder.SampleFormat, [UInt8], String)] {
            let failure = #expect(throws: PictureFailure.self) { try decoder.samples(file, format) }
            #expect(failure?.kind == .unsupported && failure?.message.hasPrefix(words) == true)
        }
    }

    @Test func keepsEveryPixelThroughPNG() throws {
        let image = try #require(PixelImage.pattern(width: 37, height: 21))
        #expect(try decoder.pixels(decoder.png(image), .png) == image)
    }

    @Test func keepsAJPEGCloseAndReducesIt() throws {
        let image = try #require(PixelImage.pattern(width: 64, height: 40))
        let file = try decoder.jpeg(image, quality: 95)
        #expect(try decoder.pixels(file, .jpeg).distance(to: image) < 4)
        for eighths in [1, 2, 4] {
            let small = try decoder.pixels(file, .jpeg, eighths: eighths)
            #expect(small.width == 8 * eighths && small.height == 5 * eighths)
        }
    }

    /// A mark in one corner must appear where a viewer that knows the orientation shows it.
    @Test(arguments: zip(1...8, [(0, 0), (1, 0), (1, 1), (0, 1), (0, 0), (1, 0), (1, 1), (0, 1)]))
    func turnsThumbnailsUpright(_ orientation: Int, _ corner: (Int, Int)) throws {
        var image = try #require(PixelImage(width: 64, height: 32, rgb: [UInt8](repeating: 0, count: 64 * 32 * 3)))
        for row in 0..<16 {
            for column in 0..<32 * 3 { image.rgb[row * 64 * 3 + column] = 255 }
        }
        let thumbnail = try decoder.thumbnail(decoder.jpeg(image, quality: 95), orientation: orientation, quality: 95)
        let upright = try decoder.pixels(thumbnail, .jpeg)
        #expect((upright.width, upright.height) == (orientation < 5 ? (8, 4) : (4, 8)))
        for (x, y) in [(0, 0), (1, 0), (0, 1), (1, 1)] {
            let offset = (y * (upright.height - 1) * upright.width + x * (upright.width - 1)) * 3
            #expect((upright.rgb[offset] > 128) == ((x, y) == corner))
        }
    }
}

extension SampleGrid {
    var uint8: [UInt8]? { if case .uint8(let values) = values { values } else { nil } }
    var uint16: [UInt16]? { if case .uint16(let values) = values { values } else { nil } }
    var float32: [Float]? { if case .float32(let values) = values { values } else { nil } }
}

extension PixelImage {
    /// A smooth picture in which every row and column differs.
    static func pattern(width: Int, height: Int) -> PixelImage? {
        var rgb: [UInt8] = []
        for y in 0..<height {
            for x in 0..<width {
                rgb.append(UInt8(x * 255 / width))
                rgb.append(UInt8(y * 255 / height))
                rgb.append(UInt8((x + y) * 255 / (width + height)))
            }
        }
        return PixelImage(width: width, height: height, rgb: rgb)
    }

    /// The mean absolute difference of the bytes.
    func distance(to other: PixelImage) -> Double {
        guard (width, height) == (other.width, other.height) else { return .infinity }
        return Double(zip(rgb, other.rgb).reduce(0) { $0 + abs(Int($1.0) - Int($1.1)) }) / Double(rgb.count)
    }
}
