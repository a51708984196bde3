import CaptureBundle
import CaptureDevice
import CaptureImport
import CaptureTestSupport
import Foundation
import PictureClient
import Testing

/// Depth maps in the forms that libraries of others write. `Tests/Writers` writes them with these libraries.
struct WrittenDepthTests {
    private static let codes: [UInt16] = [0, 1, 7, 999, 1000, 1001, 1557, 2345, 4000, 4094, 3333, 333]
    private static let metres = codes.map { Float(Double($0) / 1000) }

    private let room: ImportRoom

    init() throws {
        room = try ImportRoom()
        try RawFolder.write(to: room.folder, depth: nil, metadata: ImportRoom.metadata)
    }

    private func pack(
        _ name: String, _ file: [UInt8], _ change: (inout RawCaptureOptions) -> Void = { _ in }
    ) throws -> ImportRoom.Made {
        try room.folder.write(file, to: "raw/\(name)")
        return try room.pack("raw", change)
    }

    private func refusal(
        _ name: String, _ file: [UInt8], _ change: (inout RawCaptureOptions) -> Void = { _ in }
    ) throws -> BundleError {
        try room.folder.write(file, to: "raw/\(name)")
        return try room.refusal("raw", change)
    }

    private static func notes(_ made: ImportRoom.Made) -> String {
        made.packed.remarks.map(\.message).joined()
    }

    private static func bits(_ floats: [Float]) -> [UInt32] { floats.map(\.bitPattern) }

    private static func inMillimetres(_ options: inout RawCaptureOptions) { options.depthScale = .millimetres }

    private static func bytes(_ codes: [UInt16]) -> [UInt8] { codes.flatMap { PictureFiles.little(Int($0), 2) } }

    // MARK: - TIFF

    @Test func aStripThatTheFileLeavesOutIsMissing() throws {
        let floats = try pack("depth.tif", PictureFiles.tiff(width: 4, height: 3, bits: 32, format: 3, strip: []))
        #expect(floats.depth == [UInt32](repeating: 0, count: 12))
        #expect(Self.notes(floats).contains("has 12 samples in parts that the file leaves out"))
        // With a compression, and with a place that is not in the file.
        let deflated = PictureFiles.tiff(width: 4, height: 3, bits: 16, format: 1, strip: [], compression: 8)
        #expect(try pack("depth.tif", deflated, Self.inMillimetres).depth == [UInt32](repeating: 0, count: 12))
        var cut = PictureFiles.tiff(width: 4, height: 3, bits: 16, format: 1, strip: Self.bytes(Self.codes))
        let place = try #require(cut.indices.first { cut[$0...].starts(with: [0x11, 1, 4, 0]) }) + 8
        for offset in [0, 999] {
            cut.replaceSubrange(place..<(place + 4), with: PictureFiles.little(offset, 4))
            #expect(try refusal("depth.tif", cut, Self.inMillimetres).message.contains("part 0 is cut off, or is not"))
        }
    }

    @Test func theNumberOfGDALIsMissing() throws {
        let floats: [Float] = [9.5, 1, 2, 3, 9.5, 5, 6, 7, 8, 9, .nan, 0]
        func tiff(_ bits: Int, _ format: Int, _ bytes: [UInt8], _ number: String) -> [UInt8] {
            PictureFiles.tiff(width: 4, height: 3, bits: bits, format: format, strip: bytes, noData: number)
        }
        let made = try pack("depth.tif", tiff(32, 3, RawFolder.floats(floats), "9.5"))
        #expect(made.depth == Self.bits(floats.map { $0 == 9.5 ? 0 : $0 }))
        #expect(Self.notes(made).contains("has 2 samples of 9.5, its GDAL_NODATA, taken as not measured"))
        // The number is rounded to the type of the samples.
        let third = try pack("depth.tif", tiff(32, 3, RawFolder.floats(floats.map { $0 == 9.5 ? 0.1 : $0 }), "0.1"))
        #expect(third.depth == made.depth)
        let codes = try pack("depth.tif", tiff(16, 1, Self.bytes(Self.codes), "999"), Self.inMillimetres)
        #expect(codes.depth == Self.bits(Self.metres.map { $0 == 0.999 ? 0 : $0 }))
        #expect(try pack("depth.tif", tiff(32, 3, RawFolder.floats(floats), "nan")).depth == Self.bits(floats))
        #expect(try refusal("depth.tif", tiff(16, 1, Self.bytes(Self.codes), "abc")).message.contains("GDAL_NODATA"))
    }

    @Test func readsTheTypesOfNumpy() throws {
        func tiff(_ bits: Int, _ format: Int, _ bytes: [UInt8]) -> [UInt8] {
            PictureFiles.tiff(width: 4, height: 3, bits: bits, format: format, strip: bytes)
        }
        let doubles = Self.codes.flatMap { code in
            PictureFiles.little(Int(bitPattern: UInt(Double(code).bitPattern)), 8)
        }
        let halves = Self.codes.flatMap { PictureFiles.little(Int(Float16($0).bitPattern), 2) }
        let whole = Self.codes.map { Float($0) }
        for (bits, bytes, expected) in [(64, doubles, whole), (16, halves, whole.map { Float(Float16($0)) })] {
            let made = try pack("depth.tif", tiff(bits, 3, bytes))
            #expect(made.depth == Self.bits(expected) && made.source?.encoding == "tiff-f\(bits)")
        }
        let long = Self.codes.flatMap { PictureFiles.little(Int($0), 4) }
        for (bits, format, bytes, name) in [
            (16, 2, Self.bytes(Self.codes), "i16"), (32, 1, long, "u32"), (32, 2, long, "i32"),
        ] {
            let made = try pack("depth.tif", tiff(bits, format, bytes), Self.inMillimetres)
            #expect(made.depth == Self.bits(Self.metres) && made.source?.encoding == "tiff-\(name)")
            #expect(made.source?.invalid == "zero")
        }
        let negative = tiff(16, 2, Self.bytes(Self.codes.map { $0 == 7 ? 0xffff : $0 }))
        #expect(try refusal("depth.tif", negative, Self.inMillimetres).message.hasPrefix("has negative samples"))
        // The highest number is missing only if the user says so.
        let high = tiff(16, 2, Self.bytes(Self.codes.map { $0 == 7 ? 32_767 : $0 }))
        #expect(try pack("depth.tif", high, Self.inMillimetres).depth[2] == Float(32.767).bitPattern)
        let made = try pack("depth.tif", high) { ($0.depthScale, $0.depthInvalid) = (.millimetres, .zeroOrMax) }
        #expect(made.depth[2] == 0 && made.source?.invalid == "zero-or-max")
    }

    @Test func channelsThatAreEqualCountAsOne() throws {
        let floats: [Float] = [0, .nan, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11]
        let three = floats.flatMap { RawFolder.floats([$0, $0, $0]) }
        func tiff(_ strip: [UInt8]) -> [UInt8] {
            PictureFiles.tiff(width: 4, height: 3, bits: 32, format: 3, strip: strip, samples: 3, photometric: 2)
        }
        #expect(try pack("depth.tif", tiff(three)).depth == Self.bits(floats))
        var other = three
        other[20] ^= 1
        #expect(try refusal("depth.tif", tiff(other)).message == "is a TIFF of 3 channels, expected one, or equal ones")
    }

    // MARK: - PNG

    /// pypng stretches the codes of a sensor of 12 bits by a factor, as the format recommends; others repeat the bits.
    @Test func takesTheSignificantBitsOfAPNG() throws {
        func png(_ samples: [UInt16], bits: UInt8 = 12) -> [UInt8] {
            let rows = (0..<3).map { row in samples[(row * 4)..<(row * 4 + 4)].flatMap { PictureFiles.big(Int($0), 2) }
            }
            return PictureFiles.png(
                width: 4, height: 3, bits: 16, colour: 0, rows: rows, between: PictureFiles.chunk("sBIT", [bits]))
        }
        let factor = Self.codes.map { UInt16((Double($0) * 65535 / 4095).rounded()) }
        let repeated = Self.codes.map { $0 << 4 | $0 >> 8 }
        for samples in [factor, repeated, Self.codes.map { $0 << 4 }] {
            let made = try pack("depth.png", png(samples))
            #expect(made.depth == Self.bits(Self.metres))
            #expect(Self.notes(made).contains("says that 12 of its 16 bits are significant (sBIT)"))
        }
        // All bits set is "not measured", as in every depth map of 16 bits.
        #expect(try pack("depth.png", png(factor.map { $0 == factor[2] ? 65535 : $0 })).depth[2] == 0)
        let error = try refusal("depth.png", png(factor.map { $0 == factor[2] ? $0 + 1 : $0 }))
        #expect(error.message.hasPrefix("says that 12 of its 16 bits are significant (sBIT), but 113 is not"))
        #expect(try pack("depth.png", png(factor, bits: 16)).depth[3] == Float(Double(factor[3]) / 1000).bitPattern)
    }

    @Test func transparentSamplesAreMissing() throws {
        func png(colour: UInt8, rows: [[UInt8]], between: [UInt8] = []) -> [UInt8] {
            PictureFiles.png(width: 4, height: 3, bits: 16, colour: colour, rows: rows, between: between)
        }
        func rows(_ pixel: (UInt16) -> [UInt8]) -> [[UInt8]] {
            (0..<3).map { row in Self.codes[(row * 4)..<(row * 4 + 4)].flatMap(pixel) }
        }
        let grey = { (code: UInt16) in PictureFiles.big(code == 0 ? 9999 : Int(code), 2) }
        let keyed = try pack(
            "depth.png",
            png(colour: 0, rows: rows(grey), between: PictureFiles.chunk("tRNS", PictureFiles.big(9999, 2))))
        #expect(keyed.depth == Self.bits(Self.metres))
        #expect(Self.notes(keyed).contains("has 1 sample of 9999, which its tRNS makes transparent"))
        let low = PictureFiles.png(
            width: 4, height: 3, bits: 8, colour: 0, rows: [[5, 1, 2, 3], [4, 5, 6, 7], [8, 9, 10, 11]],
            between: PictureFiles.chunk("tRNS", [1, 5]))
        let codes = try pack("depth.png", low, Self.inMillimetres).depth
        #expect(codes.indices.filter { codes[$0] == 0 } == [0, 5])
        let opaque = { (code: UInt16) -> [UInt8] in code == 0 ? [0, 0] : [0xff, 0xff] }
        for (colour, count) in [(4, 1), (6, 3)] as [(UInt8, Int)] {
            let made = try pack(
                "depth.png",
                png(colour: colour, rows: rows { code in (0..<count).flatMap { _ in grey(code) } + opaque(code) }))
            #expect(made.depth == Self.bits(Self.metres))
            #expect(Self.notes(made).contains("has 1 sample that its alpha channel makes transparent"))
        }
        let colours = png(colour: 2, rows: rows { code in grey(code) + grey(code) + grey(code &+ 1) })
        #expect(try refusal("depth.png", colours).message.contains("16-bit RGB"))
    }

    @Test func namesAnOrientationOfItsOwn() throws {
        let exif: [UInt8] = Array("II*\0".utf8) + [8, 0, 0, 0, 1, 0, 0x12, 1, 3, 0, 1, 0, 0, 0, 6, 0, 0, 0, 0, 0, 0, 0]
        let rows = (0..<3).map { _ in [UInt8](repeating: 3, count: 8) }
        let file = PictureFiles.png(
            width: 4, height: 3, bits: 16, colour: 0, rows: rows, between: PictureFiles.chunk("eXIf", exif))
        let made = try pack("depth.png", file)
        #expect(Self.notes(made).contains("has the orientation 6 in its eXIf, but the photo has 1"))
        #expect(made.codes.contains("raw.turned"))
    }

    // MARK: - OpenEXR

    private static let each = metres.map { PictureFiles.little($0) }

    @Test func aCropIsPlacedInTheWholePicture() throws {
        func file(_ display: [Int]) -> [UInt8] {
            PictureFiles.exr(width: 4, height: 3, channels: ["Z"], pixelType: 2, each: Self.each, display: display)
        }
        let made = try pack("depth.exr", file([-1, -2, 4, 2]))
        let empty = [Float](repeating: 0, count: 6)
        let rows = (0..<3).map { row in [0] + Self.metres[(row * 4)..<(row * 4 + 4)] + [0] }
        #expect(made.depth == Self.bits(empty + empty + rows.joined()))
        #expect(Self.notes(made).contains("has 18 samples outside of its data window"))
        // A data window that is not wholly inside is the picture.
        #expect(try pack("depth.exr", file([1, 0, 9, 9])).depth == Self.bits(Self.metres))
        #expect(throws: BundleError.self) { try pack("depth.exr", file([0, 0, 99_999, 9])) }
    }

    @Test func saysWhatACompressionLoses() throws {
        for (code, name) in [(8, "DWAA"), (9, "DWAB"), (10, "HTJ2K256"), (11, "HTJ2K32")] as [(UInt8, String)] {
            let file = PictureFiles.exr(
                width: 4, height: 3, channels: ["Z"], pixelType: 2, each: Self.each, compression: code)
            let message = try refusal("depth.exr", file).message
            #expect(message == "is an OpenEXR file with the compression \(name), which is not read; write it with ZIP")
        }
        for (file, words) in [
            (Self.pxr24, "PXR24, which keeps 24 of 32 bits"), (Self.b44, "below 0.000062, one may have been 0 or NaN"),
        ] {
            #expect(try Self.notes(pack("depth.exr", [UInt8](#require(Data(base64Encoded: file))))).contains(words))
        }
        // B44 takes halves, and leaves floats alone.
        let floats = PictureFiles.exr(
            width: 4, height: 1, channels: ["Z"], pixelType: 2, each: Array(Self.each[4..<8]), compression: 6)
        #expect(try pack("depth.exr", floats).packed.remarks.isEmpty)
    }

    /// 4 by 4 samples from 1 to 2, by OpenEXR 3.5: floats, and halves of which the first was 0.
    private static let pxr24 =
        """
        di8xAQIAAABjaGFubmVscwBjaGxpc3QAEwAAAFoAAgAAAAAAAAABAAAAAQAAAABjb21wcmVzc2lvbgBjb21wcmVzc2lvbgABAAAABWRh\
        dGFXaW5kb3cAYm94MmkAEAAAAAAAAAAAAAAAAwAAAAMAAABkaXNwbGF5V2luZG93AGJveDJpABAAAAAAAAAAAAAAAAMAAAADAAAAbGlu\
        ZU9yZGVyAGxpbmVPcmRlcgABAAAAAHBpeGVsQXNwZWN0UmF0aW8AZmxvYXQABAAAAAAAgD9zY3JlZW5XaW5kb3dDZW50ZXIAdjJmAAgA\
        AAAAAAAAAAAAAHNjcmVlbldpbmRvd1dpZHRoAGZsb2F0AAQAAAAAAIA/dHlwZQBzdHJpbmcADQAAAHNjYW5saW5laW1hZ2UAOgEAAAAA\
        AAAAAAAAKQAAAHhes2dgYGjg4OBg6OzotAeyFwHZSlD2ESDbBcp+BmSndXZ0AgDxKAtd
        """
    private static let b44 =
        """
        di8xAQIAAABjaGFubmVscwBjaGxpc3QAEwAAAFoAAQAAAAAAAAABAAAAAQAAAABjb21wcmVzc2lvbgBjb21wcmVzc2lvbgABAAAABmRh\
        dGFXaW5kb3cAYm94MmkAEAAAAAAAAAAAAAAAAwAAAAMAAABkaXNwbGF5V2luZG93AGJveDJpABAAAAAAAAAAAAAAAAMAAAADAAAAbGlu\
        ZU9yZGVyAGxpbmVPcmRlcgABAAAAAHBpeGVsQXNwZWN0UmF0aW8AZmxvYXQABAAAAAAAgD9zY3JlZW5XaW5kb3dDZW50ZXIAdjJmAAgA\
        AAAAAAAAAAAAAHNjcmVlbldpbmRvd1dpZHRoAGZsb2F0AAQAAAAAAIA/dHlwZQBzdHJpbmcADQAAAHNjYW5saW5laW1hZ2UAOgEAAAAA\
        AAAAAAAADgAAAIAAJ/gh+ggggggggggg
        """

    @Test func takesTheChannelThatIsNamed() throws {
        let others = Self.metres.map { PictureFiles.little($0 + 1) }
        let names = ["Combined.B", "Combined.G", "Combined.R", "Depth.Z"]
        let file = PictureFiles.exr(
            width: 4, height: 3, channels: names, pixelType: 2, each: others, last: Self.each)
        let error = try refusal("depth.exr", file)
        #expect(error.cause == .severalChannels && error.values == ["Depth.Z"])
        #expect(error.message.contains("4 channels (Combined.B, Combined.G, Combined.R, Depth.Z)"))
        let wrong = try refusal("depth.exr", file) { $0.depthChannel = "Y" }
        #expect(wrong.message.hasPrefix("has no channel Y, but 4 channels"))
        #expect(try pack("depth.exr", file) { $0.depthChannel = "Depth.Z" }.depth == Self.bits(Self.metres))
        #expect(
            try pack("depth.exr", file) { $0.depthChannel = "Combined.G" }.depth
                == Self.bits(Self.metres.map { $0 + 1 }))
        let rgb = PictureFiles.exr(
            width: 4, height: 3, channels: ["A", "B", "G", "R"], pixelType: 2, each: Self.each)
        #expect(try pack("depth.exr", rgb).depth == Self.bits(Self.metres))
        #expect(
            try refusal("depth.exr", rgb) { $0.depthChannel = String(repeating: "x", count: 300) }.code == .rawDepth)
        let png = PictureFiles.png(width: 4, height: 3, Self.codes)
        try FileManager.default.removeItem(atPath: room.folder.path("raw/depth.exr"))
        #expect(try refusal("depth.png", png) { $0.depthChannel = "Z" }.message.hasPrefix("is not an OpenEXR file"))
    }

    // MARK: - Numbers

    @Test func samplesAboveALimitAreMissing() throws {
        let floats: [Float] = [1, 1e10, .infinity, 2, .nan, 0, 1e9, 1e11, 3, 4, 5, 6]
        let made = try pack("depth.npy", PictureFiles.npy("<f4", RawFolder.floats(floats))) {
            $0.depthInvalidAbove = 1e9
        }
        #expect(made.depth == Self.bits(floats.map { $0 > 1e9 ? 0 : $0 }))
        #expect(made.source?.invalid == "nan-or-zero" && Self.notes(made).contains("has 3 samples above 1000000000"))
        let codes = try pack("depth.npy", PictureFiles.npy("<u2", Self.bytes(Self.codes))) {
            ($0.depthScale, $0.depthInvalidAbove) = (.millimetres, 3999)
        }
        #expect(codes.depth == Self.bits(Self.metres.map { $0 >= 4 ? 0 : $0 }) && codes.source?.invalid == "zero")
        let plain = try pack("depth.f32", RawFolder.floats(floats)) {
            ($0.depthSize, $0.depthInvalidAbove) = (DepthSize(width: 4, height: 3), 1e9)
        }
        #expect(plain.depth == made.depth)
    }

    @Test func aFactorInAFloatMapNeedsAScale() throws {
        let rows = (0..<3).reversed().flatMap { RawFolder.floats(Array(Self.metres[($0 * 4)..<($0 * 4 + 4)])) }
        let file = Array("Pf\n4 3\n-2\n".utf8) + rows
        let error = try refusal("depth.pfm", file)
        #expect(error.code == .rawUnit && error.cause == nil)
        #expect(error.message.contains("with the scale factor 2, by which some programs divide"))
        #expect(try pack("depth.pfm", file) { $0.depthScale = .metres }.depth == Self.bits(Self.metres))
        let half = try pack("depth.pfm", file) { $0.depthScale = DepthScale("0.5") }
        #expect(half.depth == Self.bits(Self.metres.map { $0 / 2 }))
    }

    @Test func aScaleOfUnitsInAMetreIsRefusedForIntegers() throws {
        let png = PictureFiles.png(width: 4, height: 3, Self.codes)
        for (given, meant) in [("1000", "0.001"), ("5000", "0.0002"), ("65535", nil)] as [(String, String?)] {
            let error = try refusal("depth.png", png) { $0.depthScale = DepthScale(given) }
            #expect(error.code == .rawUnit && error.cause == .largeUnit && error.values.first == meant)
        }
        let floats = PictureFiles.npy("<f4", RawFolder.floats(Self.metres))
        try FileManager.default.removeItem(atPath: room.folder.path("raw/depth.png"))
        #expect(try pack("depth.npy", floats) { $0.depthScale = DepthScale("1000") }.codes.contains("raw.plausible"))
    }

    @Test func saysThatAPNGIsReadAsMillimetres() throws {
        let png = PictureFiles.png(width: 4, height: 3, Self.codes)
        #expect(try pack("depth.png", png).codes == ["raw.unit"])
        #expect(try pack("depth.png", png, Self.inMillimetres).codes == [])
    }

    @Test func readsADumpOf16Bits() throws {
        let size = DepthSize(width: 4, height: 3)
        for name in ["depth.raw", "depth.bin"] {
            let made = try pack(name, Self.bytes(Self.codes)) { ($0.depthSize, $0.depthScale) = (size, .millimetres) }
            #expect(made.depth == Self.bits(Self.metres) && made.source?.encoding == "uint16-le")
            // Without a unit they can be half floats.
            #expect(try refusal(name, Self.bytes(Self.codes)) { $0.depthSize = size }.code == .rawDepth)
            try FileManager.default.removeItem(atPath: room.folder.path("raw/\(name)"))
        }
    }
}
