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
        for index in reports.indices where reports[index].verdict != .verified {
            reports[index].checks.append(.init(name: "counter", outcome: .notReached))
        }
        let uses = reports.indices.compactMap { index in
            reports[index].verdict == .verified ? CounterUse(reports[index]).map { (index, $0) } : nil
        }
        guard !uses.isEmpty else { return }
        var known: [(Int, CounterUse, Digest?)] = []
        try state.change(uses.map { $0.1.key }) { records in
            for (index, use) in uses {
                known.append((index, use, try records.exchange(of: use.key, at: use.counter, for: use.manifest)))
            }
        }
        for (index, use, manifest) in known { check(&reports[index], use, known: manifest) }
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

    private func check(_ report: inout VerificationReport, _ use: CounterUse, known: Digest?) {
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

/// What the state records of a bundle.
private struct CounterUse {
    let key: Digest
    let counter: UInt32
    let manifest: Digest

    init?(_ report: VerificationReport) {
        guard let key = report.manifest?.device.keyID, let counter = report.authenticatorData?.counter,
            let manifest = report.manifestSHA256
        else { return nil }
        (self.key, self.counter, self.manifest) = (key, counter, manifest)
    }
}
