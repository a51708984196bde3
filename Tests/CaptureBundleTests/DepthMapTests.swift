import CaptureBundle
import CaptureNative
import CaptureTestSupport
import Testing

/// The depth map is judged the same in pieces of any size.
struct DepthMapTests {
    private static let floats = RawFolder.floats((0..<(128 * 128)).map { Float($0) / 64 })

    private static func finding(_ member: [UInt8], pieceLength: Int) throws -> String? {
        let size = try #require(DepthSize(width: 128, height: 128))
        let reader = try DepthMapReader(size: size)
        for start in stride(from: 0, to: member.count, by: pieceLength) {
            try reader.consume(member.span.extracting(start..<min(start + pieceLength, member.count)))
        }
        return try reader.finish(expected: Digest.of(floats))?.code.rawValue
    }

    @Test(
        arguments: [
            (0, nil), (-4, "depth.length"), (1, "depth.length"), (4, "depth.length"), (65536, "depth.length"),
        ] as [(Int, String?)])
    func judgesTheLengthAlike(_ surplus: Int, _ code: String?) throws {
        // 128 x 128 floats fill the output buffer exactly, so that zlib may hold back what is too much.
        let bytes =
            surplus < 0
            ? Array(Self.floats.dropLast(-surplus)) : Self.floats + [UInt8](repeating: 0, count: surplus)
        let member = try GzipCompressor.compress(bytes.span, level: 6)
        for length in [1, 7, 16, 4096, member.count] {
            #expect(try Self.finding(member, pieceLength: length) == code)
        }
        let cut = Array(member.dropLast(12))
        let findings = try [1, 16, cut.count].map { try Self.finding(cut, pieceLength: $0) }
        #expect(Set(findings).count == 1 && findings[0] != nil)
    }

    @Test func countsWhatIsMissingAndWhatIsMeaningless() {
        var collector = DepthStatistics.Collector()
        let values: [Float] = [.nan, 0, -0.0, -1, .infinity, -.infinity, 4, 1, 3]
        for byte in RawFolder.floats(values) { collector.add([byte].span) }
        let statistics = collector.finish()
        #expect((statistics.samples, statistics.missing, statistics.meaningless) == (9, 3, 3))
        #expect((statistics.minimum, statistics.median, statistics.maximum) == (1, 3, 4))
    }
}
