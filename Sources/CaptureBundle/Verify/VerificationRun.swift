import CaptureNative
public import SystemPackage

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
        do {
            let place = try place.get()
            return Outcome(file: place.name, result: reportOrError(place, stamp))
        } catch {
            return Outcome(file: error.file ?? "", result: .failure(error))
        }
    }

    private func reportOrError(
        _ place: BundleSource.Place, _ stamp: Stamps
    ) -> Result<VerificationReport, BundleError> {
        do {
            let stamp = try native { try stamp(place) }
            return .success(try examine(BundleReader(place.open()), stamp: stamp))
        } catch { return .failure(error) }
    }
}

extension BundleSource {
    /// The location of a bundle before it is opened.
    public enum Place: Hashable, Sendable {
        case file(FilePath)
        case standardInput

        public var name: String {
            switch self {
            case .file(let path): path.string
            case .standardInput: "-"
            }
        }

        /// - Throws: `input.unreadable`.
        public func open() throws(BundleError) -> BundleSource {
            switch self {
            case .file(let path): try BundleSource(file: path)
            case .standardInput: try BundleSource(path: "-")
            }
        }
    }
}
