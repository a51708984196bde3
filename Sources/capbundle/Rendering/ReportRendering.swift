import CaptureBundle
import CommandSupport

/// Prints a verification report as a page, a line, or JSON (Spec/command-line.md section 3).
enum ReportRendering {
    /// The page for a single file: the verdict, the faults, the facts, and what is not proven.
    static func page(_ file: String, _ report: VerificationReport) -> [String] {
        var lines = [verdict(file, report)]
        for fault in report.faults { lines.append("  " + finding(fault)) }
        for warning in report.warnings { lines.append("  warning: " + finding(warning)) }
        let signer = report.trustedDevice.map(words) ?? "a device that you do not trust"
        lines += origin(report, signed: "signed by \(signer)").map { "  " + $0 }
        lines += Facts.table(report).lines
        let limits = report.notChecked.compactMap { explanation($0, report.stamp) }
        if !limits.isEmpty {
            lines.append("not checked or not proven:")
            lines += limits.map { "  - " + $0 }
        }
        return lines
    }

    static func line(_ file: String, _ report: VerificationReport) -> String {
        let isAccepted = [.verified, .unknownDevice].contains(report.verdict)
        guard isAccepted && !report.warnings.isEmpty else { return verdict(file, report) }
        let codes = report.warnings.map { "[\($0.code.rawValue)]" }.joined(separator: ", ")
        return "\(verdict(file, report)), \(Quantity.count(report.warnings.count, "warning")): \(codes)"
    }

    /// The verdict of a file, with the withheld entries that the user allows.
    private static func verdict(_ file: String, _ report: VerificationReport) -> String {
        let name = Visible.text(file)
        let signer = report.trustedDevice.map { ", signed by \(words($0))" } ?? ""
        let verdict = words(report.verdict)
        switch report.verdict {
        case .verified:
            let past = report.isSeenBefore == true ? ", seen before" : ""
            return "\(name): \(Style.good.output(verdict))\(signer)\(past)\(allowed(report))"
        case .unacceptable: return "\(name): \(Style.bad.output(verdict))\(signer): \(codes(report.faults))"
        case .altered, .malformed: return "\(name): \(Style.bad.output(verdict)): \(codes(report.faults))"
        case .unknownDevice:
            return "\(name): sound, but \(Style.doubtful.output(verdict)): \(codes(report.faults))\(allowed(report))"
        }
    }

    private static func allowed(_ report: VerificationReport) -> String {
        let isFault = report.faults.contains { $0.code == .policyWithheld }
        guard !isFault && !report.withheld.isEmpty else { return "" }
        return ", withheld: " + report.withheld.map(\.description).joined(separator: ", ")
    }

    /// The verdict in words. The words for an unknown device follow "sound, but".
    static func words(_ verdict: Verdict) -> String {
        switch verdict {
        case .verified: "verified"
        case .unacceptable: "not acceptable"
        case .altered: "ALTERED"
        case .malformed: "MALFORMED"
        case .unknownDevice: "the device is unknown"
        }
    }

    private static func words(_ device: VerificationReport.TrustedDevice) -> String {
        "\(Visible.text(device.name)) (\(device.level.rawValue))"
    }

    /// Explains who signed the facts of a damaged bundle.
    static func origin(_ report: VerificationReport, signed: String) -> [String] {
        guard [.altered, .malformed].contains(report.verdict), report.manifest != nil else { return [] }
        guard report.isManifestGenuine else { return ["no valid signature: anyone could have written this"] }
        let replaced = report.paths(.altered).map(\.description).joined(separator: ", ")
        let list = replaced.isEmpty ? [] : ["replaced after signing: \(replaced)"]
        return ["the manifest is genuine, \(signed)"] + list
    }

    static func finding(_ error: BundleError) -> String {
        let place = error.entry.map { "\($0): " } ?? ""
        return Visible.text("\(place)\(error.message) [\(error.code.rawValue)]")
    }

    static func codes(_ faults: [BundleError]) -> String {
        faults.map { fault in
            Visible.text(fault.entry.map { "\($0) [\(fault.code.rawValue)]" } ?? "[\(fault.code.rawValue)]")
        }.joined(separator: ", ")
    }

    /// Says in a line why the verdict does not cover a topic; nil for an unknown topic.
    static func explanation(_ topic: String, _ stamp: StampedTime? = nil) -> String? {
        switch topic {
        case "trust": "trust: not checked, because the bundle has no valid signature"
        case "counter": "the counter: not compared with earlier ones, so a replay is not detected"
        case "time" where stamp != nil:
            "the time: the device claims it; the time stamp shows only that it was not later"
        case "time": "the time: the device claims it, and no time stamp proves it"
        case "scene": "the scene: a signature shows which key signed, not what was in front of the lens"
        case "chain": "the chain: the captures before and after this one were not checked"
        default: nil
        }
    }

    static func json(
        _ file: String, _ report: VerificationReport, name: String = "capture-bundle/verify/1"
    ) -> JSONValue {
        .members([
            "bundle": bundle(report),
            "bytes": .integer(report.bytes),
            "checks": .array(
                report.checks.map {
                    .members(["name": .string($0.name), "outcome": .string($0.outcome.rawValue)])
                }),
            "device": device(report),
            "entries": report.manifest.map { manifest in
                .array(zip(manifest.entries, report.entries).map(entry))
            },
            "exit_code": .integer(report.verdict.rawValue),
            "faults": .array(report.faults.map(\.json)),
            "file": .string(file),
            "not_checked": .texts(report.notChecked),
            "report": .string(name),
            "seen_before": report.isSeenBefore.map { .bool($0) },
            "stamp": report.stamp?.json,
            "verdict": .string(report.verdict.word),
            "warnings": .array(report.warnings.map(\.json)),
        ])
    }

    /// The JSON for a file that could not be read at all.
    static func json(_ file: String, _ error: BundleError, report: String = "capture-bundle/verify/1") -> JSONValue {
        .members([
            "error": error.json, "exit_code": .integer(Int(ExitStatus(error).rawValue)), "file": .string(file),
            "report": .string(report),
        ])
    }

    private static func bundle(_ report: VerificationReport) -> JSONValue? {
        guard let manifest = report.manifest else { return nil }
        return .members([
            "captured_at": .text(manifest.capturedAt),
            "captured_at_as_written": .text(report.metadata?.capturedAtText),
            "depth": manifest.depth.map {
                .members(["height": .integer($0.size.height), "width": .integer($0.size.width)])
            },
            "device_model": .text(report.metadata?.deviceModel),
            "id": .string(manifest.id),
            "manifest_sha256": .text(report.manifestSHA256),
        ])
    }

    private static func device(_ report: VerificationReport) -> JSONValue? {
        guard let manifest = report.manifest else { return nil }
        return .members([
            "counter": .count(report.authenticatorData?.counter),
            "key_id": .text(manifest.device.keyID),
            "kind": report.authenticatorData.map { .string($0.kind == .apple ? "apple" : "disk") },
            "level": .text(report.trustedDevice?.level.rawValue),
            "name": .text(report.trustedDevice?.name),
        ])
    }

    private static func entry(_ entry: ManifestEntry, _ status: VerificationReport.EntryStatus) -> JSONValue {
        .members([
            "media_type": .string(entry.mediaType), "path": .text(entry.path), "role": .string(entry.role.rawValue),
            "sha256": .text(entry.sha256), "size": .integer(entry.size), "status": .string(status.rawValue),
        ])
    }
}

extension JSONOption {
    /// Runs `body`. With `--json`, a failure is also printed as a report.
    ///
    /// - Parameter output: The output of the command.
    func reporting<Value>(
        _ report: String, of file: String, to output: String? = nil, isQuiet: Bool = false,
        _ body: () throws -> Value
    ) throws -> Value {
        do {
            return try body()
        } catch let error as BundleError {
            if json && !isQuiet {
                try Output.json(ReportRendering.json(file, error, report: report), beside: [output])
            }
            throw error
        }
    }
}
