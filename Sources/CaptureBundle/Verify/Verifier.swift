import CaptureNative
public import SystemPackage

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

extension Verifier {
    /// Finds the time stamp of each bundle.
    public typealias Stamps = @Sendable (BundleSource.Place) throws -> TimeStamp?

    /// The result for one of many bundles.
    public struct Outcome: Sendable {
        public let file: String
        /// A failure means that the file cannot be read. A bundle with faults is a success here.
        public let result: Result<VerificationReport, BundleError>

        public init(file: String, result: Result<VerificationReport, BundleError>) {
            self.file = file
            self.result = result
        }
    }

    /// Verifies many bundles on several threads, in memory that does not grow with their number.
    ///
    /// - Parameters:
    ///   - threads: The number of bundles that are verified at the same time; nil means one for each processor.
    ///   - next: Returns the next bundle, or nil after the last. Only one thread at a time calls it.
    ///   - stamp: Returns the time stamp of a bundle; nil for none.
    ///   - deliver: Receives the outcomes on this thread, in the order of the bundles. Returning false ends the run.
    ///     With a state, some bundles after that one may be remembered already.
    /// - Throws: The errors that `deliver` throws, and those of the state.
    public func verifyAll(
        threads: Int? = nil, next: @escaping @Sendable () -> Result<BundleSource.Place, BundleError>?,
        stamp: @escaping Stamps = { _ in nil },
        deliver: (Outcome) throws -> Bool
    ) throws(BundleError) {
        try verifyAll(threads: threads, next: next, stamp: stamp, prepare: { $0 }, deliver: deliver)
    }

    /// Does the same, but converts each outcome on its worker thread: a report can be far larger than its text. With a
    /// state, the outcome is complete only when the counter is judged, so this thread converts it.
    ///
    /// - Parameter group: The maximum number of bundles that are recorded in the state with one sync. With 1, each
    ///   remembered bundle is also delivered.
    package func verifyAll<Value: Sendable>(
        threads: Int? = nil, group: Int = CounterState.bundlesPerSync,
        next: @escaping @Sendable () -> Result<BundleSource.Place, BundleError>?,
        stamp: @escaping Stamps = { _ in nil },
        prepare: @escaping @Sendable (Outcome) -> Value, deliver: (Value) throws -> Bool
    ) throws(BundleError) {
        let threads = threads ?? Thread.processors
        try native {
            guard let counters else {
                return try OrderedWork.run(
                    threads: threads, next: next, work: { prepare(outcome($0, stamp)) }, deliver: deliver)
            }
            try OrderedWork.run(
                threads: threads, window: max(group, threads * OrderedWork.windowPerThread), group: group, next: next,
                work: { outcome($0, stamp) }
            ) { outcomes in
                try counters.run(on: outcomes).allSatisfy { try deliver(prepare($0)) }
            }
        }
    }

    private func outcome(_ place: Result<BundleSource.Place, BundleError>, _ stamp: Stamps) -> Outcome {
        switch place {
        case .failure(let error): return Outcome(file: error.file ?? "", result: .failure(error))
        case .success(let place):
            let result = Result { () throws(BundleError) in
                let stamp = try native { try stamp(place) }
                return try examine(BundleReader(place.open()), stamp: stamp)
            }
            return Outcome(file: place.name, result: result)
        }
    }
}

extension BundleSource {
    /// The location of a bundle before it is opened.
    public enum Place: Hashable, Sendable {
        case file(FilePath)
        case standardInput

        public var name: String { if case .file(let path) = self { path.string } else { "-" } }

        /// - Throws: `input.unreadable`.
        public func open() throws(BundleError) -> BundleSource {
            switch self {
            case .file(let path): try BundleSource(file: path)
            case .standardInput: try BundleSource(path: "-")
            }
        }
    }
}
