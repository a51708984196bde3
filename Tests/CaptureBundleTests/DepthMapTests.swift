import CaptureBundle
import CaptureNative
import CapturePages
import CaptureTestSupport
import SystemPackage
import Testing

/// The depth map reader comes to the same result in pieces of any size.
struct DepthMapTests {
    private static let floats = RawFolder.floats((0..<(128 * 128)).map { Float($0) / 64 })

    private static func finding(_ member: [UInt8], pieceLength: Int) throws -> String? {
        let size = try #require(DepthSize(width: 128, height: 128))
        let reader = try DepthMapReader(size: size)
        for piece in member.pieces(of: pieceLength) { try reader.consume(piece.span) }
        return try reader.finish(expected: Digest.of(floats))?.code.rawValue
    }

    @Test(
        arguments: [
            (0, nil), (-4, "depth.length"), (1, "depth.length"), (4, "depth.length"), (65536, "depth.length"),
        ] as [(Int, String?)])
    func judgesTheLengthAlike(_ surplus: Int, _ code: String?) throws {
        // 128 x 128 floats fill the output buffer exactly. zlib may then keep the surplus bytes back.
        let bytes =
            surplus < 0
            ? Array(Self.floats.dropLast(-surplus)) : Self.floats + [UInt8](repeating: 0, count: surplus)
        let member = try GzipCompressor.compress(bytes.span, level: 6)
        for length in [7, 4096, member.count] + (isLongRun ? [1, 16] : []) {
            #expect(try Self.finding(member, pieceLength: length) == code)
        }
        let cut = Array(member.dropLast(12))
        let findings = try [16, cut.count].map { try Self.finding(cut, pieceLength: $0) }
        #expect(Set(findings).count == 1 && findings[0] != nil)
    }

    /// Rule M6: no floats make an entry larger than the limit, because packing always stays within it.
    @Test(
        arguments: [
            (1, 1), (4, 3), (63, 64), (1249, 1), (1250, 1), (1251, 1), (100, 50),
        ] + (isLongRun ? [(2, 1), (1, 3), (16, 16), (127, 1), (256, 192), (640, 480), (1000, 1000), (1300, 1300)] : []))
    func packsWithinTheLimitWhateverTheFloats(_ width: Int, _ height: Int) throws {
        let size = try #require(DepthSize(width: width, height: height))
        var generator = SeededGenerator(seed: UInt64(width * height))
        let noise = (0..<size.byteCount).map { _ in UInt8.random(in: 0...255, using: &generator) }
        let folder = try TemporaryFolder()
        try folder.write(noise, to: "floats")
        let digest = try Digest.of(noise)
        let path = folder.path("floats")
        for floats in [PayloadContent.bytes(noise), .file(try FileHandle.reading(FilePath(path)), name: path)] {
            let made = try DepthMapCodec.compress(floats, size: size, sha256: digest)
            #expect(made.size <= size.entryLimit)
            let member = try Self.bytes(of: made)
            let reader = try DepthMapReader(size: size)
            try reader.consume(member.span)
            #expect(try reader.finish(expected: digest) == nil)
            // Packing the same floats again gives the same bytes.
            let again = try DepthMapCodec.compress(floats, size: size, sha256: digest)
            #expect(again.sha256 == made.sha256)
        }
    }

    private static func bytes(
        of made: (content: PayloadContent, size: Int, sha256: Digest)
    ) throws -> [UInt8] {
        var bytes: [UInt8] = []
        try made.content.stream(size: made.size, sha256: made.sha256) { bytes.append(copying: $0) }
        return bytes
    }

    @Test func refusesFloatsThatChangeWhileTheyAreCompressed() throws {
        let folder = try TemporaryFolder()
        try folder.write(RawFolder.depth, to: "floats")
        let size = try #require(DepthSize(width: 4, height: 3))
        let path = folder.path("floats")
        let floats = PayloadContent.file(try FileHandle.reading(FilePath(path)), name: path)
        let error = #expect(throws: BundleError.self) {
            try DepthMapCodec.compress(floats, size: size, sha256: Digest.of([]))
        }
        #expect(error?.code == .inputUnreadable)
    }

    @Test func theMedianOfTwoGreatSamplesIsFinite() throws {
        var collector = DepthCollector(size: try #require(DepthSize(width: 2, height: 1)))
        collector.add(RawFolder.floats([3.4e38, 3.4e38]).span)
        #expect(try #require(collector.finish()).statistics.median == 3.4e38)
    }

    @Test func countsWhatIsMissingAndWhatIsMeaningless() throws {
        var collector = DepthCollector(size: try #require(DepthSize(width: 9, height: 1)))
        let values: [Float] = [.nan, 0, -0.0, -1, .infinity, -.infinity, 4, 1, 3]
        for byte in RawFolder.floats(values) { collector.add([byte].span) }
        let statistics = try #require(collector.finish()).statistics
        #expect((statistics.samples, statistics.missing, statistics.meaningless) == (9, 3, 3))
        #expect((statistics.minimum, statistics.median, statistics.maximum) == (1, 3, 4))
    }
}
