import CaptureBundle
import CaptureTestSupport
import Foundation
import Testing

/// The reader refuses every changed bundle and never traps.
struct MalformedTests {
    private let vector: VectorFile
    private let verifier: Verifier

    init() throws {
        vector = try VectorFile(Places.vectors.appending(path: "valid/valid_minimal"))
        verifier = Verifier(trust: try TrustFile(bytes: Array((vector.trust[0] + "\n").utf8), name: "trust"))
    }

    private func verdict(_ bytes: [UInt8]) throws -> Verdict {
        try verifier.verify(BundleSource(bytes: bytes)).verdict
    }

    @Test func acceptsTheBundleThatIsChangedHere() throws {
        #expect(try verdict(vector.content) == .verified)
    }

    @Test func refusesEveryFlippedBit() throws {
        var bytes = vector.content
        for index in bytes.indices {
            for bit in 0..<8 {
                bytes[index] ^= 1 << bit
                let verdict = try verdict(bytes)
                if verdict == .verified { Issue.record("bit \(bit) of byte \(index)") }
                bytes[index] ^= 1 << bit
            }
        }
    }

    @Test func refusesEveryPrefix() throws {
        for length in vector.content.indices {
            let verdict = try verdict(Array(vector.content[..<length]))
            if verdict != .malformed { Issue.record("\(length) bytes: \(verdict)") }
        }
    }

    @Test func refusesRandomChangesInTheHead() throws {
        var generator = SeededGenerator(seed: 2026)
        for round in 0..<20_000 {
            var bytes = vector.content
            for _ in 0...Int.random(in: 0..<4, using: &generator) {
                let index = Int.random(in: 0..<bytes.count, using: &generator)
                bytes[index] = UInt8.random(in: 0...255, using: &generator)
            }
            let verdict = try verdict(bytes)
            if bytes != vector.content && verdict == .verified { Issue.record("round \(round)") }
        }
    }
}
