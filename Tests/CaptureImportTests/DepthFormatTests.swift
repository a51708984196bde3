import CaptureBundle
import CaptureImport
import CaptureNative
import CaptureTestSupport
import Foundation
import PictureClient
import Testing

/// Depth as apps save it becomes samples, row by row from the top, or is refused with words.
struct DepthFormatTests {
    private static let floats: [Float] = [0.5, -1.25, 0, 3, .infinity, 65_504]

    private static func npy(
        _ type: String, _ data: [UInt8], shape: String = "(2, 3)", order: String = "False", version: UInt8 = 1
    ) -> [UInt8] { PictureFiles.npy(type, data, shape: shape, order: order, version: version) }

    private static func bytes(_ number: UInt64, _ length: Int, _ isBig: Bool) -> [UInt8] {
        let bytes = (0..<length).map { UInt8(truncatingIfNeeded: number >> UInt64(8 * $0)) }
        return isBig ? bytes.reversed() : bytes
    }

    private static func values(_ grid: SampleGrid) -> [Float] {
        if case .float32(let values) = grid.values { values } else { [] }
    }

    // MARK: - NumPy

    @Test(arguments: ["<", ">"], [UInt8(1), 2, 3])
    func readsArraysOfEachType(_ order: String, _ version: UInt8) throws {
        let isBig = order == ">"
        let patterns: [(String, Int, (Float) -> UInt64)] = [
            ("f2", 2, { UInt64(Float16($0).bitPattern) }), ("f4", 4, { UInt64($0.bitPattern) }),
            ("f8", 8, { Double($0).bitPattern }),
        ]
        for (type, length, pattern) in patterns {
            let data = Self.floats.flatMap { Self.bytes(pattern($0), length, isBig) }
            for shape in ["(2, 3)", "(2, 3, 1)", "(1, 2, 3)", "(2,3,)"] {
                let grid = try NumpyArray.decode(Self.npy(order + type, data, shape: shape, version: version))
                #expect(Self.values(grid) == Self.floats)
                #expect(grid.size.width == 3 && grid.size.height == 2)
            }
        }
        let integers: [UInt16] = [0, 1, 1000, 32_768, 65_535, 258]
        let data = integers.flatMap { Self.bytes(UInt64($0), 2, isBig) }
        guard case .uint16(let read) = try NumpyArray.decode(Self.npy(order + "u2", data, version: version)).values
        else {
            Issue.record("not 16-bit integers")
            return
        }
        #expect(read == integers)
    }

    @Test func readsBytesAndRoundsDoubles() throws {
        guard case .uint8(let read) = try NumpyArray.decode(Self.npy("|u1", [0, 1, 2, 253, 254, 255])).values else {
            Issue.record("not bytes")
            return
        }
        #expect(read == [0, 1, 2, 253, 254, 255])
        let doubles = [1 + 0x1p-24, 1 + 0x1.8p-23, 0.1, 1e300, -0.0, 1e-50]
        let data = doubles.flatMap { Self.bytes($0.bitPattern, 8, false) }
        let rounded: [Float] = [1, 1 + 0x1p-22, 0.1, .infinity, -0.0, 0]
        #expect(
            Self.values(try NumpyArray.decode(Self.npy("<f8", data))).map(\.bitPattern) == rounded.map(\.bitPattern))
    }

    static let refusedArrays: [(bytes: [UInt8], words: String)] = [
        (npy("<f4", [UInt8](repeating: 0, count: 24), order: "True"), "Fortran order"),
        (npy("<f4", [UInt8](repeating: 0, count: 24), shape: "(6,)"), "shape (6)"),
        (npy("<f4", [UInt8](repeating: 0, count: 24), shape: "(2, 3, 2)"), "shape (2, 3, 2)"),
        (npy("<f4", [UInt8](repeating: 0, count: 24), shape: "()"), "shape ()"),
        (npy("<f4", [], shape: "(0, 3)"), "3x0 samples"),
        (npy("<f4", [], shape: "(99999, 99999)"), "99999x99999 samples"),
        (npy("<f4", [UInt8](repeating: 0, count: 23)), "23 bytes of samples, expected 24"),
        (npy("<f4", [UInt8](repeating: 0, count: 25)), "25 bytes of samples, expected 24"),
        (npy("<i8", []), "type <i8"), (npy("<i2", bytes(0xffff, 12, false)), "negative"), (npy("|O", []), "type |O"),
        (npy("|f4", []), "type |f4"), (npy("=f4", []), "=f4"),
        (npy("<f4", [], version: 1).map { $0 == 1 ? 4 : $0 }, "version 4.0"),
        (
            PictureFiles.npy(header: "{'descr': [('a', '<f4')], 'fortran_order': False, 'shape': (2, 3), }"),
            "save it with"
        ),
        (PictureFiles.npy(header: "{'descr': '<f4', 'shape': (2, 3), }"), "save it with"),
        (
            PictureFiles.npy(header: "{'descr': '<f4', 'descr': '<f4', 'fortran_order': False, 'shape': (2, 3)}"),
            "header"
        ),
        (
            PictureFiles.npy(header: "{'descr': '<f4', 'fortran_order': False, 'shape': (99999999999999999999, 3)}"),
            "header"
        ),
        (PictureFiles.npy(header: "{'descr': '<f4', 'fortran_order': False, 'shape': (2, 3)} x"), "header"),
        (npy("<f4", [], shape: "(2 1, 3)"), "header"), (npy("<f4", [], shape: "[2, 3]"), "header"),
        (npy("< f4", []), "type < f4"), (npy("<f4", [], order: "false"), "header"),
        (PictureFiles.npy(header: "{'descr': '<f4\", 'fortran_order': False, 'shape': (2, 3)}"), "header"),
        ([0x93] + Array("NUMPY".utf8) + [2, 0, 255, 255, 255, 255], "4294967295 bytes"),
        ([0x93] + Array("NUMPY".utf8) + [1, 0, 9, 0], "cut off"), (Array("PK\u{3}\u{4}".utf8), "begins with 504b0304"),
        ([], "begins with"),
    ]

    @Test(arguments: refusedArrays.indices)
    func refusesArraysWithWords(_ index: Int) {
        let (bytes, words) = Self.refusedArrays[index]
        let failure = #expect(throws: PictureFailure.self) { try NumpyArray.decode(bytes) }
        #expect(failure?.message.contains(words) ?? false, "\(failure?.message ?? "")")
    }

    // MARK: - Portable float map

    @Test(arguments: [("-1.0", false), ("1", true), ("-0.5", false)])
    func readsMapsFromTheBottom(_ scale: String, _ isBig: Bool) throws {
        let rows = Array(Self.floats[3...] + Self.floats[..<3])
        let data = rows.flatMap { Self.bytes(UInt64($0.bitPattern), 4, isBig) }
        let (grid, factor) = try PortableMap.decode(Array("Pf\n3 2\n\(scale)\n".utf8) + data)
        #expect(Self.values(grid) == Self.floats && factor == abs(Double(scale) ?? 0))
        #expect(grid.size.width == 3 && grid.size.height == 2)
    }

    static let refusedMaps: [(text: String, words: String)] = [
        ("PF\n1 1\n-1\n", "three channels"), ("P2\n", "in text form"), ("", "begins with"),
        ("Pf\n1 x\n-1\n", "without a size"),
        ("Pf\n-1 1\n-1\n", "without a size"), ("Pf\n0 1\n-1\n", "0x1"), ("Pf\n20000 1\n-1\n", "20000x1"),
        ("Pf\n1 1\n0\naaaa", "scale factor \"0\""), ("Pf\n1 1\nnan\naaaa", "\"nan\""), ("Pf\n1 1\n-1\naaa", "3 bytes"),
        ("Pf\n1 1\n-1\naaaab", "5 bytes"), ("Pf\n1 1\n\(String(repeating: "1", count: 99))\naaaa", "third number"),
    ]

    @Test(arguments: refusedMaps.indices)
    func refusesMapsWithWords(_ index: Int) {
        let (text, words) = Self.refusedMaps[index]
        let failure = #expect(throws: PictureFailure.self) { try PortableMap.decode(Array(text.utf8)) }
        #expect(failure?.message.contains(words) ?? false, "\(failure?.message ?? "")")
    }

    // MARK: - Floats, compressed or not

    private static let size = DepthSize(width: 60, height: 50)
    private static let raw = RawFolder.floats((0..<3000).map { Float($0 % 50) / 8 })

    /// The floats in each wrapper, and in gzip with every optional field.
    private static func wrapped() throws -> [(name: String, bytes: [UInt8])] {
        let gzip = try GzipCompressor.compress(raw.span, level: 6)
        let deflate = Array(gzip.dropFirst(10).dropLast(8))
        let (a, b) = raw.reduce((1, 0)) { (($0.0 + Int($1)) % 65_521, ($0.1 + $0.0 + Int($1)) % 65_521) }
        let adler = bytes(UInt64(b << 16 | a), 4, true)
        let fields: [UInt8] =
            [0x1f, 0x8b, 8, 0x1e, 1, 2, 3, 4, 0, 3, 2, 0, 9, 9] + Array("depth\0note\0".utf8)
        let check = PictureFiles.little(Int(PictureFiles.crc32(fields)), 2)
        return [
            ("gzip", gzip), ("gzip", fields + check + gzip.dropFirst(10)), ("zlib", [0x78, 0x9c] + deflate + adler),
            ("zlib", [0x78, 0x01] + deflate + adler), ("deflate", deflate),
        ]
    }

    @Test func inflatesEachWrapper() throws {
        let size = try #require(Self.size)
        for (name, bytes) in try Self.wrapped() {
            #expect(CompressedFloats.Wrapper(bytes).rawValue == name)
            #expect(RawFolder.floats(Self.values(try CompressedFloats.decode(bytes, size: size))) == Self.raw)
            #expect(throws: PictureFailure.self) { try CompressedFloats.decode(bytes + [0], size: size) }
            #expect(throws: PictureFailure.self) { try CompressedFloats.decode(bytes + bytes, size: size) }
            for cut in Damage.cuts(bytes, count: 30) {
                #expect(throws: PictureFailure.self) { try CompressedFloats.decode(cut, size: size) }
            }
        }
    }

    /// A changed bit gives an error or, in raw deflate that has no checksum, other floats; never a trap.
    @Test func findsBitFlipsThatAChecksumCovers() throws {
        let size = try #require(Self.size)
        for (name, bytes) in try Self.wrapped() {
            for index in stride(from: 0, to: bytes.count, by: isLongRun ? 1 : max(1, bytes.count / 40)) {
                var changed = bytes
                changed[index] ^= 1 << UInt8(index % 8)
                let read = try? CompressedFloats.decode(changed, size: size)
                guard name != "deflate", let read, index > 20 else { continue }
                #expect(RawFolder.floats(Self.values(read)) == Self.raw, "\(name), byte \(index)")
            }
        }
    }

    /// A stream of many zeros is stopped at the size that is expected.
    @Test func stopsABomb() throws {
        let bomb = try GzipCompressor.compress([UInt8](repeating: 0, count: 8 << 20).span, level: 9)
        let size = try #require(DepthSize(width: 4, height: 4))
        for bytes in [bomb, Array(bomb.dropFirst(10).dropLast(8))] {
            let failure = #expect(throws: PictureFailure.self) { try CompressedFloats.decode(bytes, size: size) }
            #expect(failure?.message.contains("more than 64 bytes") ?? false)
        }
    }
}
