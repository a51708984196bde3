extension BundleError.Code {
    static let policyWithheld = Self("policy.withheld")
    static let policyRequired = Self("policy.required")
}

/// Checks the user's requirements: rules R1 and R2 (Spec/capture-bundle.md section 11).
struct PolicyCheck {
    let policy: VerificationPolicy

    /// - Parameter report: The report of a sound bundle.
    func run(on report: inout VerificationReport) {
        guard let manifest = report.manifest else { return }
        var faults: [BundleError] = []
        if !policy.allowsWithheld {
            faults += report.withheld.map {
                BundleError(.policyWithheld, "withheld by whoever passed the bundle on", entry: $0.description)
            }
        }
        let present = zip(manifest.entries, report.entries).filter { $0.1 == .matched }.map(\.0.role.rawValue)
        for part in policy.required where part == .chain ? manifest.chain == nil : !present.contains(part.rawValue) {
            faults.append(BundleError(.policyRequired, "\(part.rawValue) is required and not there"))
        }
        report.faults += faults
        report.checks.append(.init(name: "policy", outcome: faults.isEmpty ? .passed : .failed))
    }
}
