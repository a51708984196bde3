import CaptureNative

extension BundleError.Code {
    public static let counterReused = Self("counter.reused")
}

/// Compares the counters of accepted bundles with the state: rule K1, and the requirement `fresh` (R2).
struct CounterCheck {
    let state: CounterState
    let requiresFresh: Bool

    /// Judges bundles in this order and records those that were not seen. Bundles with faults are not compared.
    ///
    /// - Throws: An error if the state cannot be used. Then it is as it was before.
    func run(on reports: inout [VerificationReport]) throws {
        var uses: [(index: Int, use: CounterState.Use)] = []
        for (index, report) in reports.enumerated() {
            if report.verdict != .verified {
                reports[index].checks.append(.init(name: "counter", outcome: .notReached))
            } else if let key = report.manifest?.device.keyID, let counter = report.authenticatorData?.counter,
                let manifest = report.manifestSHA256
            {
                uses.append((index, (key, counter, manifest)))
            }
        }
        guard !uses.isEmpty else { return }
        for (place, known) in zip(uses, try state.exchange(uses.map(\.use))) {
            check(&reports[place.index], place.use, known: known)
        }
    }

    /// Judges those outcomes that are reports.
    func run(on outcomes: [Verifier.Outcome]) throws -> [Verifier.Outcome] {
        var reports = outcomes.compactMap { try? $0.result.get() }
        try run(on: &reports)
        var checked = reports.makeIterator()
        return outcomes.map { outcome in
            Verifier.Outcome(file: outcome.file, result: outcome.result.map { checked.next() ?? $0 })
        }
    }

    private func check(_ report: inout VerificationReport, _ use: CounterState.Use, known: Digest?) {
        if let known, known != use.manifest {
            report.faults.append(
                BundleError(
                    .counterReused,
                    "this key used counter \(use.counter) before, for the manifest with SHA-256 \(known); "
                        + "the key was copied, or its state was restored from an older copy"))
        } else {
            report.isSeenBefore = known != nil
            if known != nil && requiresFresh {
                report.faults.append(
                    BundleError(.policyRequired, "fresh is required, but this bundle was verified before"))
                report.checks = report.checks.map { $0.name == "policy" ? .init(name: $0.name, outcome: .failed) : $0 }
            }
        }
        let isReused = report.faults.contains { $0.code == .counterReused }
        report.checks.append(.init(name: "counter", outcome: isReused ? .failed : .passed))
    }
}
