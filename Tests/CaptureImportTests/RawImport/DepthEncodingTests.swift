import CaptureBundle
import CaptureDevice
import CaptureImport
import CaptureTestSupport
import Foundation
import Testing

/// Each encoding of Spec/raw-captures.md section 3 becomes the floats that it stands for, in a bundle that is accepted.
/// Judges of Tests/Judges compare further encodings with numpy, Pillow and OpenEXR.
struct DepthEncodingTests {
    private static let millimetres: [UInt16] = [0, 1, 7, 999, 1000, 1001, 1557, 2345, 10_750, 65_534, 65_535, 333]
    private static let floats: [Float] = [0, 0.001, .nan, 1, 1.5, 2.25, 3, 0.1, 10.75, 65.5, 1e-3, 5]

    private static var bytes: [UInt8] { RawFolder.floats(floats) }

    private static var codes: [UInt8] { millimetres.flatMap { PictureFiles.little(Int($0), 2) } }

    private static var upsideDown: [UInt8] {
        Array("Pf\n4 3\n-1\n".utf8) + (0..<3).reversed().flatMap { bytes[($0 * 16)..<($0 * 16 + 16)] }
    }

    /// A file of floats in metres: its ending, its bytes and its encoding's name.
    private static let metric: [(String, [UInt8], String)] = [
        ("bin", bytes, "float32-le"), ("raw", bytes, "float32-le"),
        ("zlib", PictureFiles.zlib(bytes), "float32-le+zlib"), ("f32", PictureFiles.zlib(bytes), "float32-le+zlib"),
        ("deflate", Array(PictureFiles.zlib(bytes).dropFirst(2).dropLast(4)), "float32-le+deflate"),
        ("npy", PictureFiles.npy("<f4", bytes), "npy-f4"), ("pfm", upsideDown, "pfm"),
        ("tiff", PictureFiles.tiff(width: 4, height: 3, floats), "tiff-f32"),
        ("tif", PictureFiles.tiff(width: 4, height: 3, floats, isBigEndian: true), "tiff-f32"),
        ("exr", PictureFiles.exr(width: 4, height: 3, floats), "exr-f32"),
    ]

    @Test(arguments: metric.indices)
    func takesFloatsBitForBit(_ index: Int) throws {
        let (ending, file, encoding) = Self.metric[index]
        let room = try ImportRoom()
        // Files with nothing but samples need a size.
        let metadata = ImportRoom.metadata.replacing("{", with: #"{"depth_map_dimensions":{"width":4,"height":3},"#)
        try RawFolder.write(to: room.folder, depth: nil, metadata: metadata)
        try room.folder.write(file, to: "raw/depth.\(ending)")
        let made = try room.pack("raw")
        #expect(made.depth == Self.floats.map(\.bitPattern))
        #expect(made.source?.encoding == encoding)
        #expect(made.source?.scale == "1" && made.source?.invalid == "nan-or-zero")
        #expect(made.source?.rowOrder == (ending == "pfm" ? "bottom-first" : "top-first"))
        #expect(made.packed.manifest.depth?.size == DepthSize(width: 4, height: 3))
    }

    @Test func neverGuessesAUnit() throws {
        let room = try ImportRoom()
        try RawFolder.write(to: room.folder, depth: nil, metadata: ImportRoom.metadata)
        try room.folder.write(PictureFiles.npy("<u2", Self.codes), to: "raw/depth.npy")
        let error = try room.refusal("raw")
        #expect(error.code == .rawUnit && error.cause == nil)
        let grey = (0..<3).map { _ in [UInt8](repeating: 7, count: 4) }
        try FileManager.default.removeItem(atPath: room.folder.path("raw/depth.npy"))
        try room.folder.write(
            PictureFiles.png(width: 4, height: 3, bits: 8, colour: 0, rows: grey), to: "raw/depth.png")
        #expect(try room.refusal("raw").code == .rawUnit)
        #expect(try room.pack("raw") { $0.depthScale = .metres }.source?.encoding == "png-u8")
    }

    /// 16 bits are big-endian, and the maximum in the header is not applied.
    @Test func readsPortableGreyMaps() throws {
        let room = try ImportRoom()
        try RawFolder.write(to: room.folder, depth: nil, metadata: ImportRoom.metadata)
        func pack(_ header: String, _ samples: [UInt8]) throws -> ImportRoom.Made {
            try room.folder.write(Array(header.utf8) + samples, to: "raw/depth.pgm")
            return try room.pack("raw") { $0.depthScale = .millimetres }
        }
        let samples = Self.millimetres.flatMap { PictureFiles.big(Int($0), 2) }
        let deep = try pack("P5\n# a comment 7 8\n4\t3 10000\n", samples)
        #expect(deep.depth[7] == (2.345 as Float).bitPattern && deep.source?.encoding == "pgm-u16")
        let flat = try pack("P5 4 3 255 ", (0..<12).map { UInt8($0) })
        #expect(flat.depth[11] == (0.011 as Float).bitPattern && flat.source?.encoding == "pgm-u8")
        for header in ["P2\n4 3 255\n", "P5\n4 3\n", "P5\n4 3 65536\n", "P5\n0 3 255\n", "P5\n4 4 255\n", "P5 4 3 255"]
        {
            #expect(throws: BundleError.self) { try pack(header, (0..<12).map { UInt8($0) }) }
        }
    }

    @Test func saysHowToUnpackAnArchiveOfArrays() throws {
        let room = try ImportRoom()
        try RawFolder.write(to: room.folder, depth: nil)
        try room.folder.write("PK\u{3}\u{4}", to: "raw/depth.npz")
        let error = try room.refusal("raw")
        #expect(error.message.hasPrefix("missing; depth.npz is a zip archive"))
        #expect(error.cause == .otherDepth && error.values == ["depth.npz"])
    }

    /// Many depth cameras write 65535 where they see nothing.
    @Test func theHighestNumberOf16BitsIsMissing() throws {
        let room = try ImportRoom()
        try RawFolder.write(to: room.folder, depth: nil, metadata: ImportRoom.metadata)
        func pack(_ samples: [UInt16], _ invalid: InvalidDepth? = nil) throws -> ImportRoom.Made {
            try room.folder.write(PictureFiles.png(width: 4, height: 3, samples), to: "raw/depth.png")
            return try room.pack("raw") { $0.depthInvalid = invalid }
        }
        for (samples, invalid, expected, last) in [
            (Self.millimetres, nil, "zero-or-max", 0), (Self.millimetres, .zeroOrMax, "zero-or-max", 0),
            (Self.millimetres, .zero, "zero", 65.535), (Self.millimetres.map { min($0, 65_534) }, nil, "zero", 65.534),
        ] as [([UInt16], InvalidDepth?, String, Float)] {
            let made = try pack(samples, invalid)
            #expect(made.source?.invalid == expected)
            #expect(made.depth[10] == last.bitPattern && made.depth[9] == (65.534 as Float).bitPattern)
            #expect(made.codes == (expected == "zero-or-max" ? ["raw.samples", "raw.unit"] : ["raw.unit"]))
        }
        #expect(try pack(Self.millimetres).packed.id != pack(Self.millimetres, .zero).packed.id)
        let grey = (0..<3).map { _ in [UInt8]([0, 7, 254, 255]) }
        for (invalid, last) in [(nil, 255), (.zeroOrMax, 0)] as [(InvalidDepth?, Float)] {
            let png = PictureFiles.png(width: 4, height: 3, bits: 8, colour: 0, rows: grey)
            try room.folder.write(png, to: "raw/depth.png")
            let made = try room.pack("raw") { ($0.depthInvalid, $0.depthScale) = (invalid, .metres) }
            #expect(made.depth[3] == last.bitPattern)
        }
    }

    @Test(
        arguments: [
            ("npy", [1, 2, 3], BundleError.Code.rawDepth), ("pfm", Array("PF\n1 1\n-1\n".utf8), .rawDepth),
            ("png", [0x89, 0x50], .rawDepth), ("exr", [1], .rawDepth), ("tiff", [], .rawDepth),
            ("gz", [0x1f, 0x8b], .rawDepth),
            ("bin", [0, 1, 2, 3, 4], .rawDepth),
        ] as [(String, [UInt8], BundleError.Code)])
    func namesTheFileThatCannotBeRead(_ ending: String, _ bytes: [UInt8], _ code: BundleError.Code) throws {
        let room = try ImportRoom()
        try RawFolder.write(to: room.folder, depth: nil)
        try room.folder.write(bytes, to: "raw/depth.\(ending)")
        let error = try room.refusal("raw")
        #expect(error.code == code)
        #expect(error.file?.hasSuffix("raw/depth.\(ending)") == true)
    }

    @Test func refusesAnotherSizeThanSaid() throws {
        let room = try ImportRoom()
        let metadata = ImportRoom.metadata.replacing("{", with: #"{"depth_map_dimensions":{"width":3,"height":4},"#)
        try RawFolder.write(to: room.folder, depth: nil, metadata: metadata)
        try room.folder.write(PictureFiles.npy("<f4", Self.bytes), to: "raw/depth.npy")
        let error = try room.refusal("raw")
        #expect(error.message == "is 4x3, but depth_map_dimensions in metadata.json is 3x4")
    }

    @Test func packsTheConfidenceMapAsItIs() throws {
        let room = try ImportRoom()
        let rows = (0..<3).map { row in [UInt8](repeating: UInt8(row), count: 4) }
        let map = PictureFiles.png(width: 4, height: 3, bits: 8, colour: 0, rows: rows)
        try RawFolder.write(to: room.folder)
        try room.folder.write(map, to: "raw/confidence.png")
        #expect(try room.pack("raw").entries["confidence.png"] == map)
        #expect(try room.pack("raw") { $0.withoutDepth = true }.entries["confidence.png"] == nil)
        try room.folder.write(Self.bytes, to: "raw/confidence.png")
        #expect(try room.refusal("raw").message == "is not a picture, expected an 8-bit greyscale PNG")
    }
}
