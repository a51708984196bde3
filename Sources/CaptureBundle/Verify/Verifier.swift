import CaptureNative

extension BundleError.Code {
    package static let entrySHA256 = Self("entry.sha256")
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
        try verify(BundleReader(source), observer: nil)
    }

    /// Verifies and hands the bundle on as it passes, to an observer that holds it back until the report is there.
    func verify(_ reader: BundleReader, observer: (any BundleObserver)?) throws(BundleError) -> VerificationReport {
        var pass = VerificationPass(reader: reader, observer: observer)
        do {
            try pass.run()
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
            if pass.report.isManifestGenuine { TrustCheck(trust: trust).name(on: &pass.report) }
            pass.report.checks += ["trust", "policy"].map { .init(name: $0, outcome: .notReached) }
        }
        pass.report.bytes = reader.position
        return pass.report
    }
}

/// Sees a bundle as it is read, before anything is known of its hashes.
protocol BundleObserver: AnyObject {
    /// The manifest is well-formed; of the signature nothing is known yet.
    func read(_ head: BundleReader.Head, _ manifest: Manifest) throws(BundleError)
    /// The bytes of this entry come next.
    func begin(_ entry: ManifestEntry) throws(BundleError)
    func consume(_ piece: Span<UInt8>) throws(BundleError)
}
