import CaptureBundle
import CommandSupport

/// Prints the chains of devices as text or as JSON (Spec/command-line.md section 3).
final class ChainRendering {
    private let isJSON: Bool
    private let devices: DeviceNames
    private let chains: ChainCollection
    private let output: TextOutput
    /// The faults of the current device for its summary in JSON.
    private var faults: [JSONValue] = []

    static let name = "capture-bundle/chain/1"
    private static let report = JSONValue.string(name)
    /// The maximum number of faults in the summary of a device.
    private static let faultLimit = 1000

    init(isJSON: Bool, _ devices: DeviceNames, _ chains: ChainCollection) throws {
        self.isJSON = isJSON
        self.devices = devices
        self.chains = chains
        output = try TextOutput(.standardOutput)
    }

    /// A file that is not a bundle, or whose signature is wrong.
    func add(_ file: String, faults: [BundleError], _ verdict: Verdict) throws {
        guard isJSON else {
            let words = Style.bad.output(ReportRendering.words(verdict))
            return try output.line("\(Visible.text(file)): \(words): \(ReportRendering.codes(faults))")
        }
        try write(
            .members([
                "exit_code": .integer(verdict.rawValue), "faults": .array(faults.map(\.json)), "file": .string(file),
                "report": Self.report,
            ]))
    }

    /// A file that cannot be read.
    func add(_ file: String, _ error: BundleError) throws {
        if isJSON { try write(ReportRendering.json(file, error, report: Self.name)) }
    }

    func add(_ event: ChainWalk.Event) throws {
        if isJSON { try addJSON(event) } else { try addText(event) }
    }

    func finish(_ counts: ChainCounts) throws {
        if isJSON {
            try write(counts.json)
        } else {
            try output.line(counts.summary)
            try output.line("contents: not checked; use \"capbundle verify\"")
            if counts.copies > 0 {
                try output.line("newer links cannot be seen here: compare with \"capbundle key show\" on the device")
            }
        }
        try output.finish()
    }

    // MARK: - Text

    private func addText(_ event: ChainWalk.Event) throws {
        switch event {
        case .begin(let key): try output.line("\(Visible.text(devices.words(key))), key \(key)")
        case .link: break
        case .run(let seqs): try output.line("  " + Self.words(seqs))
        case .fault(let fault):
            let message = fault.message(try chains.files(fault))
            let line = Visible.text("\(message) [\(fault.code.rawValue)]")
            try output.line("  \(Style.bad.output("fault")): \(line)")
        case .end(let summary):
            for line in Self.lines(summary) { try output.line("  " + line) }
            if let newest = summary.newest { try output.line("  " + words(newest)) }
        }
    }

    private func words(_ newest: WalkedLink) throws -> String {
        let file = Visible.text(try chains.file(newest.name))
        let time = newest.capturedAt.map { ", \($0)" } ?? ""
        return "newest: link \(newest.seq) in \(file), counter \(newest.counter)\(time)"
    }

    private static func words(_ seqs: ClosedRange<Int>) -> String {
        seqs.count == 1 ? "link \(seqs.lowerBound)" : "links \(seqs.lowerBound) to \(seqs.upperBound)"
    }

    /// The lines after the links of a device.
    static func lines(_ summary: ChainSummary) -> [String] {
        var lines: [String] = []
        if summary.first > 1 {
            let before = words(1...(summary.first - 1))
            lines.append(
                "note: begins at link \(summary.first): \(before) \(summary.first == 2 ? "is" : "are") not among these files"
            )
        }
        if let first = summary.firstEarlierTime {
            let more = summary.earlierTimes > 1 ? ", and so do \(Quantity.number(summary.earlierTimes - 1)) more" : ""
            lines.append("note: link \(first) claims an earlier time than the link that it follows\(more)")
        }
        let copies = summary.copies > summary.links ? " in \(Quantity.count(summary.copies, "file"))" : ""
        let missing = summary.missing > 0 ? ", \(Quantity.number(summary.missing)) missing" : ""
        let faults = summary.faults > 0 ? Quantity.count(summary.faults, "fault") : "no fault"
        return lines + ["\(Quantity.count(summary.links, "link"))\(copies)\(missing), \(faults)"]
    }

    // MARK: - JSON

    private func write(_ value: JSONValue) throws { try output.line(Output.jsonText(value)) }

    private func addJSON(_ event: ChainWalk.Event) throws {
        switch event {
        case .begin: faults = []
        case .run: break
        case .link(let link):
            try write(
                .members([
                    "captured_at": .text(link.capturedAt), "copies": .integer(link.copies),
                    "counter": .count(link.counter), "device": name(link.key),
                    "file": .string(try chains.file(link.name)), "key_id": .text(link.key),
                    "manifest_sha256": .text(link.manifestSHA256), "report": Self.report, "seq": .integer(link.seq),
                ]))
        case .fault(let fault):
            guard faults.count < Self.faultLimit else { return }
            let files = try chains.files(fault)
            faults.append(
                .members([
                    "code": .string(fault.code.rawValue), "files": .texts(files),
                    "first": .integer(fault.seqs.lowerBound), "last": .integer(fault.seqs.upperBound),
                    "message": .string(fault.message(files)),
                ]))
        case .end(let summary): try write(json(summary))
        }
    }

    private func name(_ key: Digest) -> JSONValue? { devices.device(key).map { .string($0.name) } }

    private func json(_ summary: ChainSummary) -> JSONValue {
        let trusted = devices.device(summary.key).map { $0.isRevoked ? "revoked" : "yes" } ?? "no"
        return .members([
            "copies": .integer(summary.copies), "device": name(summary.key),
            "earlier_times": summary.firstEarlierTime.map {
                .members(["count": .integer(summary.earlierTimes), "first": .integer($0)])
            },
            "fault_count": .integer(summary.faults), "faults": .array(faults), "first": .integer(summary.first),
            "key_id": .text(summary.key), "last": .integer(summary.last), "links": .integer(summary.links),
            "missing": .integer(summary.missing), "report": Self.report, "trusted": .string(trusted),
        ])
    }
}

/// The numbers of all files of a run.
struct ChainCounts {
    var devices = 0
    var bundles = 0
    var copies = 0
    var withoutLink = 0
    var faulty = 0
    var unreadable = 0
    var faults = 0
    var statuses: Set<ExitStatus> = []

    /// The exit code for all files and all chains.
    var status: ExitStatus { ExitStatus.worst(faults > 0 ? statuses.union([.unacceptable]) : statuses) }

    /// The line that ends the text.
    var summary: String {
        let parts = [
            (copies, "in \(Quantity.count(devices, "chain"))"), (withoutLink, "without a link"), (faulty, "faulty"),
            (unreadable, "unreadable"),
        ]
        let words = parts.filter { $0.0 > 0 }.map { "\(Quantity.number($0.0)) \($0.1)" }.joined(separator: ", ")
        let found = copies > 0 ? "; \(faults > 0 ? Quantity.count(faults, "fault") : "no fault") in the chains" : ""
        return "\(Quantity.count(bundles, "bundle")): \(words)\(found)"
    }

    var json: JSONValue {
        .members([
            "bundles": .integer(bundles), "contents": .string("not-checked"), "devices": .integer(devices),
            "exit_code": .count(status.rawValue), "faulty": .integer(faulty), "report": .string(ChainRendering.name),
            "unreadable": .integer(unreadable), "without_link": .integer(withoutLink),
        ])
    }
}
