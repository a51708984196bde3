import CaptureNative

extension BundleError.Code {
    static let entrySHA256 = Self("entry.sha256")
}

/// Verifies bundles, in one pass each and in constant memory (Spec/capture-bundle.md section 11).
///
/// ```swift
/// let verifier = Verifier(trust: try TrustFile(path: "trusted_devices"))
/// let report = try verifier.verify(BundleSource(path: "cap.bundle"))
/// guard report.verdict == .verified else { … }
/// ```
public struct Verifier: Sendable {
    private let trust: TrustFile
    private let policy: VerificationPolicy

    public init(trust: TrustFile, policy: VerificationPolicy = VerificationPolicy()) {
        self.trust = trust
        self.policy = policy
    }

    /// - Returns: what was found; a bundle with faults is a result, not an error.
    /// - Throws: only when the bytes cannot be read (`input.unreadable`, `io.failed`).
    public func verify(_ source: BundleSource) throws(BundleError) -> VerificationReport {
        try verify(BundleReader(source), payload: { (_, _) throws(BundleError) in nil })
    }

    /// Verifies and hands the payload on as it passes, for those who hold it back until the report is there.
    ///
    /// - Parameter payload: asked at each entry; what it returns gets the entry's bytes in pieces.
    func verify(
        _ reader: BundleReader,
        payload: (ManifestEntry, Manifest) throws(BundleError) -> (any PayloadObserver)?
    ) throws(BundleError) -> VerificationReport {
        var pass = VerificationPass(reader: reader)
        do {
            try pass.run(payload)
        } catch {
            guard error.verdict != nil else { throw error }
            pass.report.faults.append(error)
            pass.stop(at: error)
        }
        pass.finishChecks()
        if pass.report.faults.isEmpty {
            TrustCheck(trust: trust).run(on: &pass.report)
            PolicyCheck(policy: policy).run(on: &pass.report)
        } else {
            pass.report.checks += ["trust", "policy"].map { .init(name: $0, outcome: .notReached) }
        }
        pass.report.bytes = reader.position
        return pass.report
    }
}

/// Sees an entry's bytes as they pass, before anything is known of their hash.
protocol PayloadObserver: AnyObject {
    func consume(_ piece: Span<UInt8>) throws(BundleError)
}
