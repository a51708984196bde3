import CaptureNative

extension BundleError.Code {
    package static let entrySHA256 = Self("entry.sha256")
}

/// Verifies bundles, each in one pass and in constant memory (Spec/capture-bundle.md section 11).
///
/// ```swift
/// let verifier = Verifier(trust: try TrustFile(path: "trusted_devices"))
/// let report = try verifier.verify(BundleSource(path: "cap.bundle"))
/// guard report.verdict == .verified else { … }
/// ```
public struct Verifier: Sendable {
    private let trust: TrustFile
    private let policy: VerificationPolicy
    let counters: CounterCheck?

    /// - Parameter state: Remembers the counters of accepted bundles; nil remembers nothing.
    public init(
        trust: TrustFile, policy: VerificationPolicy = VerificationPolicy(), state: CounterState? = nil
    ) {
        self.trust = trust
        self.policy = policy
        counters = state.map { CounterCheck(state: $0, requiresFresh: policy.required.contains(.fresh)) }
    }

    /// Verifies a bundle.
    ///
    /// - Parameter stamp: A time stamp to check with the bundle; its faults are warnings unless `time` is required.
    /// - Returns: The findings. A bundle with faults is a result, not an error.
    /// - Throws: An error only if the bytes cannot be read (`input.unreadable`, `io.failed`), or if the state cannot be
    ///   used. Then the state is as it was before.
    public func verify(_ source: BundleSource, stamp: TimeStamp? = nil) throws(BundleError) -> VerificationReport {
        try verify(BundleReader(source), observer: nil, stamp: stamp)
    }

    /// Verifies a bundle and passes its bytes to an observer, which must hold them back until it has the report.
    package func verify(
        _ reader: BundleReader, observer: (any BundleObserver)?, stamp: TimeStamp? = nil
    ) throws(BundleError) -> VerificationReport {
        var reports = [try examine(reader, observer: observer, stamp: stamp)]
        try native { try counters?.run(on: &reports) }
        return reports[0]
    }

    /// Does all steps of the verification but the last, which compares the counter with the state.
    func examine(
        _ reader: BundleReader, observer: (any BundleObserver)? = nil, stamp: TimeStamp? = nil
    ) throws(BundleError) -> VerificationReport {
        var pass = VerificationPass(
            reader: reader, observer: observer, surveysDepth: policy.required.contains(.plausible))
        do {
            try pass.run()
        } catch {
            guard error.verdict != nil else { throw error }
            pass.report.faults.append(error)
            pass.stop(at: error)
        }
        pass.finishChecks()
        if pass.report.faults.isEmpty {
            if let stamp {
                try StampCheck(stamp: stamp, authorities: trust.authorities)
                    .run(on: &pass.report, isRequired: policy.required.contains(.time))
            }
            TrustCheck(trust: trust).run(on: &pass.report)
            PolicyCheck(policy: policy, hasState: counters != nil).run(on: &pass.report)
        } else {
            if pass.report.isManifestGenuine { TrustCheck(trust: trust).name(on: &pass.report) }
            pass.report.checks += ((stamp == nil ? [] : ["stamp"]) + ["trust", "policy"]).map {
                .init(name: $0, outcome: .notReached)
            }
        }
        pass.report.bytes = reader.position
        return pass.report
    }
}

/// Observes a bundle while it is read, before its hashes are checked.
package protocol BundleObserver: AnyObject {
    /// The manifest is well-formed, but its signature has not been checked yet.
    func read(_ head: BundleReader.Head, _ manifest: Manifest) throws(BundleError)
    /// The bytes of this entry follow.
    func begin(_ entry: ManifestEntry) throws(BundleError)
    func consume(_ piece: Span<UInt8>) throws(BundleError)
}
