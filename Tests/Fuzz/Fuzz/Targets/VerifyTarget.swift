import CaptureTestSupport

@testable import CaptureBundle

/// The devices that sign the vectors, and the hashes of the vectors that are sound.
private struct Sound {
    let verifier: Verifier
    let bundles: Set<Digest>
    let bodies: Set<Digest>

    static let vectors: Sound = {
        do {
            let verifier = Verifier(trust: try Samples.trust())
            func sound(_ files: [[UInt8]], _ judge: ([UInt8]) -> VerificationReport?) throws -> Set<Digest> {
                Set(try files.filter { judge($0)?.verdict == .verified }.map { try Digest.of($0) })
            }
            return Sound(
                verifier: verifier,
                bundles: try sound(VectorFile.bundles().map(\.content)) {
                    try? verifier.verify(BundleSource(bytes: $0))
                },
                bodies: try sound(VectorFile.all(of: "multipart").map(\.content)) {
                    BodyTarget.receive(BundleSource(bytes: $0), verifier)
                })
        } catch {
            fatalError("the vectors cannot be read: \(error)")
        }
    }()
}

/// A whole bundle, with a trust file.
enum VerifyTarget: FuzzTarget {
    static let name = "verify"

    static func seeds(_ samples: Samples) -> [[UInt8]] { samples.bundles }

    static func prepare() { expect(Sound.vectors.bundles.count > 20, "hardly any vector is sound") }

    static func judge(_ bytes: [UInt8]) {
        let verifier = Sound.vectors.verifier
        let report = Cost.bounded(bytes.count, inflated: { $0?.floatBytes ?? 0 }) {
            try? verifier.verify(BundleSource(bytes: bytes))
        }
        guard let report else { fatalError("finding: bytes in memory cannot be read") }
        for source in BundleSource.inPieces(bytes) {
            let found = (try? verifier.verify(source))?.findings
            expect(found == report.findings, "in pieces the report is \(found ?? []), expected \(report.findings)")
        }
        guard report.verdict == .verified, let digest = try? Digest.of(bytes) else { return }
        expect(Sound.vectors.bundles.contains(digest), "a bundle that nobody signed is sound")
    }
}

/// An upload body, as a server receives it.
enum BodyTarget: FuzzTarget {
    static let name = "body"

    static func seeds(_ samples: Samples) -> [[UInt8]] { samples.bodies }

    static func prepare() { expect(Sound.vectors.bodies.count > 20, "hardly any vector is sound") }

    static func judge(_ bytes: [UInt8]) {
        let verifier = Sound.vectors.verifier
        let report = Cost.bounded(bytes.count, inflated: { $0?.floatBytes ?? 0 }) {
            receive(BundleSource(bytes: bytes), verifier)
        }
        guard let report else { fatalError("finding: bytes in memory cannot be read") }
        for source in BundleSource.inPieces(bytes) {
            let found = receive(source, verifier)?.findings
            expect(found == report.findings, "in pieces the report is \(found ?? []), expected \(report.findings)")
        }
        guard report.verdict == .verified, let digest = try? Digest.of(bytes) else { return }
        expect(Sound.vectors.bodies.contains(digest), "a body that nobody made is sound")
    }

    /// Does what `BundleReceiver` does, without a file.
    static func receive(_ source: BundleSource, _ verifier: Verifier) -> VerificationReport? {
        let reader = BodyReader(source)
        let stream = BundleSource(stream: reader, name: source.name)
        guard var report = try? verifier.verify(BundleReader(stream), observer: nil) else { return nil }
        if [.malformed, .altered].contains(report.verdict) {
            if report.faults.contains(where: { $0.code.part == "body" }) { report.bytes = 0 }
        } else if let faults = try? reader.check(report) {
            report.faults += faults
        }
        return report
    }
}

extension VerificationReport {
    /// Everything that a report shows, for comparison.
    fileprivate var findings: [String] {
        [
            "\(verdict) \(bytes) \(manifestSHA256?.description ?? "-") \(trustedDevice?.name ?? "-")",
            "\(authenticatorData?.counter ?? 0) \(metadata?.capturedAtText ?? "-")",
        ] + checks.map { "\($0.name) \($0.outcome)" } + entries.map(\.rawValue)
            + (faults + warnings).map { "\($0.code.rawValue) \($0)" }
    }

    /// The bytes of the depth map after it is inflated.
    fileprivate var floatBytes: Int { manifest?.depth?.size.byteCount ?? 0 }
}
