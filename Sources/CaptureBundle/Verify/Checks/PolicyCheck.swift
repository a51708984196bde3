extension BundleError.Code {
    public static let policyWithheld = Self("policy.withheld")
    static let policyRequired = Self("policy.required")
}

/// Checks the user's requirements: rules R1 and R2 (Spec/capture-bundle.md section 11), and X1 to X5 (section 11.1).
struct PolicyCheck {
    let policy: VerificationPolicy
    /// Whether the verifier has a state, which then decides about `fresh`.
    let hasState: Bool

    /// - Parameter report: The report of a sound bundle.
    func run(on report: inout VerificationReport) {
        guard let manifest = report.manifest else { return }
        var faults: [BundleError] = []
        if !policy.allowsWithheld {
            faults += report.withheld.map {
                BundleError(.policyWithheld, "removed by somebody who passed the bundle on", entry: $0.description)
            }
        }
        let present = zip(manifest.entries, report.entries).filter { $0.1 == .matched }.map(\.0.path)
        faults += policy.required.compactMap { part in
            finding(part, in: manifest, present: present, report: report).map { BundleError(.policyRequired, $0) }
        }
        faults += policy.requiredEntries.filter { !present.contains($0) }.map {
            let isWithheld = report.withheld.contains($0)
            return BundleError(
                .policyRequired, Self.missing($0.description, isWithheld: isWithheld, $0.role.whyMissing))
        }
        let exif = ExifCheck(report)
        if policy.required.contains(.exif) {
            faults += exif.disagreements
        } else {
            report.warnings += exif.disagreements
        }
        report.warnings += exif.remarks
        report.faults += faults
        report.checks.append(.init(name: "policy", outcome: faults.isEmpty ? .passed : .failed))
    }

    /// What is wrong with a part that is required; nil for nothing.
    private func finding(
        _ part: VerificationPolicy.Part, in manifest: Manifest, present: [EntryPath], report: VerificationReport
    ) -> String? {
        switch part {
        case .chain:
            guard manifest.chain == nil else { return nil }
            return Self.missing("chain", "\"capbundle pack --chain\" makes one")
        case .plausible:
            guard present.contains(.depth), let survey = report.depthSurvey else {
                let reason = report.withheld.contains(.depth) ? "it is withheld" : "the bundle has no depth map"
                return "a plausible depth map is required, but \(reason)"
            }
            return survey.isPlausible ? nil : "a plausible depth map is required, but \(survey.finding)"
        case .fresh:
            return hasState ? nil : "fresh is required, but the verifier has no state folder"
        case .exif:
            guard let photo = report.photo else { return "EXIF is required, but the photo is withheld" }
            return photo.exif == nil ? "EXIF is required, but the photo has none" : nil
        case .time:
            // A stamp with a fault is reported already.
            let isGiven = report.checks.contains { $0.name == "stamp" }
            return isGiven ? nil : "a time stamp is required, but none was given"
        case .photo, .depth, .metadata, .location, .confidence, .source:
            guard !present.contains(where: { $0.role.rawValue == part.rawValue }) else { return nil }
            let isWithheld = report.withheld.contains { $0.role.rawValue == part.rawValue }
            return Self.missing(part.rawValue, isWithheld: isWithheld, Role(rawValue: part.rawValue)?.whyMissing)
        }
    }

    private static func missing(_ name: String, isWithheld: Bool = false, _ reason: String?) -> String {
        if isWithheld { return "\(name) is required, but it is withheld" }
        let words = "\(name) is required, but not in the bundle"
        return reason.map { "\(words); \($0)" } ?? words
    }
}
