@testable import CaptureBundle

/// The assertion: CBOR, the signature in DER, and the authenticator data.
enum AssertionTarget: FuzzTarget {
    static let name = "assertion"

    static func seeds(_ samples: Samples) -> [[UInt8]] { samples.entries("assertion.cbor") }

    static func judge(_ bytes: [UInt8]) {
        guard let assertion = Cost.bounded(bytes.count, { try? Assertion(decoding: bytes) }) else { return }
        expect(assertion.encode() == bytes, "the assertion encodes to other bytes")
        _ = assertion.faults
    }
}
