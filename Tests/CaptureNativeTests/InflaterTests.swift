import CaptureNative
import Testing

struct InflaterTests {
    @Test func givesBackWhatWasCompressedInPiecesOfAnySize() throws {
        let original = (0..<100_000).map { UInt8(truncatingIfNeeded: $0 / 7) }
        let member = try GzipCompressor.compress(original.span, level: 6)
        for pieceLength in [1, 13, 4096, member.count] {
            let inflater = try Inflater()
            var result: [UInt8] = []
            var output = [UInt8](repeating: 0, count: 1000)
            var position = 10
            var outcome = Inflater.Outcome.needsInput
            while outcome != .finished {
                let end = min(position + pieceLength, member.count)
                let step = try inflater.inflate(member.span.extracting(position..<end), into: &output)
                (outcome, position) = (step.outcome, position + step.consumed)
                result += output.prefix(step.produced)
            }
            #expect(result == original)
            #expect(position == member.count - 8)
        }
    }

    @Test func callsNonsenseCorrupt() throws {
        var output = [UInt8](repeating: 0, count: 100)
        #expect(try Inflater().inflate([0xff, 0xff, 0xff].span, into: &output).outcome == .corrupt)
    }

    @Test func computesTheKnownChecksums() throws {
        var crc = CRC32()
        crc.update(Array("1234".utf8).span)
        crc.update(Array("56789".utf8).span)
        #expect(crc.value == 0xcbf4_3926)
        let abc = try SHA256Hasher.hash(Array("abc".utf8))
        #expect(abc.prefix(4) == [0xba, 0x78, 0x16, 0xbf])
        // RFC 4231, test case 2.
        let code = try HMACSHA256.code(of: Array("what do ya want for nothing?".utf8), key: Array("Jefe".utf8))
        #expect(code.prefix(4) == [0x5b, 0xdc, 0xc1, 0x46])
    }
}
