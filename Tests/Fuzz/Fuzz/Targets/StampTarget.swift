import CaptureNative
import CaptureTestSupport

@testable import CaptureBundle

/// The time stamp beside a bundle. Nobody has the key of its authority, so it says one time, or it is not good.
enum StampTarget: FuzzTarget {
    static let name = "stamp"

    private static let trust = try? TrustFile(bytes: Array((StampSample.line + "\n").utf8), name: "trust")
    private static let imprint = Digest(hex: StampSample.imprint)
    private static let time = CaptureTime("2026-03-14T15:00:00Z")

    static func seeds(_ samples: Samples) -> [[UInt8]] {
        let whole = StampSample.bytes
        let token = DER.sequence(whole[...])?.last.map { Array($0.whole) } ?? []
        return [whole, token, DER.sequence(DER.sequence(DER.element(DER.integer, [2])))]
    }

    static func judge(_ bytes: [UInt8]) {
        guard let trust, let imprint, let time else { return expect(false, "the sample is damaged") }
        let check = StampCheck(stamp: TimeStamp(bytes: bytes), authorities: trust.authorities)
        let found = Cost.bounded(bytes.count) { try? check.time(imprint: imprint, capturedAt: time) }
        if let found { expect(found.time == time && found.accuracy == .seconds(1), "a forged time \(found)") }
    }
}
