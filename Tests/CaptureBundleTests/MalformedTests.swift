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

    @Test func refusesFlippedBits() throws {
        for bytes in Damage.flips(vector.content, count: 150) {
            let verdict = try verdict(bytes)
            if verdict == .verified {
                Issue.record("byte \(bytes.indices.first { bytes[$0] != vector.content[$0] } ?? 0)")
            }
        }
    }

    @Test func refusesPrefixes() throws {
        for bytes in Damage.cuts(vector.content, count: 150) {
            let verdict = try verdict(bytes)
            if verdict != .malformed { Issue.record("\(bytes.count) bytes: \(verdict)") }
        }
    }
}
