import ArgumentParser
import CaptureBundle
import CaptureNative
import CommandSupport
import SystemPackage

struct VerifyCommand: ManyNamesCommand {
    static let configuration = CommandConfiguration(
        commandName: "verify",
        _superCommandName: "capbundle",
        abstract: "Check that bundles are unchanged and that a trusted device signed them.",
        usage: """
            capbundle verify FILE... [options]
            capbundle verify --from0 [options] < NAMES
            """,
        discussion: """
            Exit codes: 0 verified, 1 contents or signature wrong, 2 not a well-formed bundle, 3 device not in the \
            trust file, 4 not acceptable (key revoked or not trusted at that time, entries withheld, --require not \
            met, counter used for another bundle). With several files, the worst result decides.

            Example:
              capbundle verify cap.bundle
              curl -s https://example.org/cap.bundle | capbundle verify --require depth -
              find archive -type f -print0 | capbundle verify --from0 --json
              capbundle verify --state seen --require fresh cap.bundle
              capbundle verify --stamp cap.bundle.tsr --require time cap.bundle
            """)

    @Argument(help: ArgumentHelp("The bundles, or - for standard input.", valueName: "file"), completion: .file())
    var names: [String] = []

    @OptionGroup var requirements: PolicyOptions

    @Flag(name: [.short, .long], help: "Print nothing on standard output; the exit code gives the result.")
    var quiet = false

    @Option(
        "Remember the counters of each key in this folder, and refuse a second bundle in which a key uses the same "
            + "counter.",
        discussion: """
            The folder is made if it is missing. --require fresh refuses a bundle that the folder has accepted before.
            """,
        value: "dir", completion: .directory)
    var state: String?

    @Option(
        "Check this time stamp with the bundle (capbundle stamp makes one).", value: "file",
        completion: .file(extensions: ["tsr"]))
    var stamp: String?

    @Flag(help: "Check the time stamp FILE.tsr beside each FILE, if there is one.")
    var stamps = false

    @Option(help: .stampingAuthorities, completion: .file())
    var tsaCa: String?

    @OptionGroup var list: NameOptions

    @Flag(help: "Stop at the first failure.")
    var failFast = false

    @OptionGroup var format: JSONOption
    @OptionGroup var trust: TrustOptions

    func validate() throws {
        try list.validate(names: names, of: "bundle (- for a pipe)")
        if stamp != nil && (stamps || list.from0 || names.count > 1) {
            throw ValidationError("--stamp is for one bundle; --stamps takes FILE.tsr beside each FILE")
        }
        if stamps && names.contains("-") {
            throw ValidationError("--stamps needs files, and - is not one; see --stamp")
        }
        if tsaCa != nil && stamp == nil && !stamps {
            throw ValidationError("--tsa-ca needs --stamp FILE or --stamps")
        }
        if state == "-" { throw ValidationError("--state needs the path of a folder, and - is not one") }
        if state == nil && requirements.requiresFresh {
            throw ValidationError("--require fresh needs --state DIR, a folder that remembers the bundles")
        }
    }

    func run() throws {
        let verifier = Verifier(
            trust: try trust.file(warn: diagnostic.warning).adding(certificates: tsaCa),
            policy: try requirements.policy(), state: try openState())
        try (names.count == 1 ? verifyOne(names[0], verifier) : verifyAll(verifier)).require()
    }

    private func openState() throws -> CounterState? {
        guard let state else { return nil }
        let opened = try CounterState(folder: FilePath(state))
        if opened.isNew { diagnostic.note("\(opened.path): this state folder is new; it remembers no bundle yet") }
        return opened
    }

    private func verifyOne(_ file: String, _ verifier: Verifier) throws -> ExitStatus {
        let result = Result { () throws(BundleError) in
            try native {
                let path = FilePath(file: file)
                let stamp = try findStamp(file == "-" ? .standardInput : .file(path))
                return try verifier.verify(BundleSource(path: path), stamp: stamp)
            }
        }
        guard case .success(let report) = result, !quiet && !format.json else {
            let output = BundleOutput(.init(file: file, result: result), quiet: quiet, json: format.json)
            try output.write()
            return output.status
        }
        try Output.line(ReportRendering.page(file, report).joined(separator: "\n"))
        for fault in report.faults { diagnostic.hints(of: fault, in: file) }
        if report.verdict == .unknownDevice && file != "-" {
            diagnostic.note(
                "if \"capbundle key show\" prints this key id on the device, trust it with",
                command: "capbundle trust add NAME --from \(ShellWord.quote(FilePath(file)))\(trust.words)")
        }
        if !report.faults.isEmpty && report.faults.allSatisfy({ $0.code == .policyWithheld }) && file != "-" {
            diagnostic.note(
                "nothing else is wrong; to accept the bundle without these entries",
                command: "capbundle verify --allow-withheld \(ShellWord.quote(FilePath(file)))")
        }
        return ExitStatus(report.verdict)
    }

    /// The time stamp of a bundle; nil if none is named, or none is beside the bundle.
    private var findStamp: Verifier.Stamps {
        let (stamp, isBeside) = (stamp.map { FilePath($0) }, stamps)
        return { place in
            if let stamp { return try TimeStamp(path: stamp) }
            guard isBeside, case .file(let bundle) = place else { return nil }
            return try TimeStamp.beside(bundle)
        }
    }

    private func verifyAll(_ verifier: Verifier) throws -> ExitStatus {
        let progress = Progress("bundle", total: list.from0 ? nil : names.count, isWanted: !quiet)
        defer { progress.end() }
        var counts: [ExitStatus: Int] = [:]
        let (quiet, json) = (quiet, format.json)
        try verifier.verifyAll(
            threads: list.jobs, group: failFast ? 1 : CounterState.bundlesPerSync,
            next: BundleNames(names, isList: list.from0, searchesFolders: false).next, stamp: findStamp,
            prepare: { BundleOutput($0, quiet: quiet, json: json) },
            deliver: { output in
                if output.error == nil && !Output.isTerminal {
                    try output.write()
                } else {
                    try progress.around { try output.write() }
                }
                counts[output.status, default: 0] += 1
                progress.advance(bytes: output.bytes)
                return output.status == .success || !failFast
            })
        progress.end()
        if counts.isEmpty { throw NameOptions.noNames }
        if !quiet && !format.json { try Output.line(Self.summary(counts)) }
        let worst = ExitStatus.worst(counts.keys)
        if failFast && worst != .success && !quiet {
            diagnostic.note("stopped at the first bundle that is not verified")
        }
        return worst
    }

    private static func summary(_ counts: [ExitStatus: Int]) -> String {
        let verdicts = Verdict.allCases.map { ($0.word, counts[ExitStatus($0)] ?? 0) }
        let total = counts.values.reduce(0, +)
        let all = verdicts + [("unreadable", total - verdicts.reduce(0) { $0 + $1.1 })]
        let parts = all.filter { $0.1 > 0 }.map { "\(Quantity.number($0.1)) \($0.0)" }
        return "\(Quantity.count(total, "bundle"))\(parts.isEmpty ? "" : ": ")\(parts.joined(separator: ", "))"
    }
}

/// The output about one of several bundles.
private struct BundleOutput: Sendable {
    let status: ExitStatus
    let bytes: Int
    private let line: String?
    let error: BundleError?

    init(_ outcome: Verifier.Outcome, quiet: Bool, json: Bool) {
        let file = outcome.file
        switch outcome.result {
        case .failure(let failure):
            (error, status, bytes) = (failure, ExitStatus(failure), 0)
            line = json && !quiet ? Output.jsonText(ReportRendering.json(file, failure)) : nil
        case .success(let report):
            (error, status, bytes) = (nil, ExitStatus(report.verdict), report.bytes)
            let text = {
                json ? Output.jsonText(ReportRendering.json(file, report)) : ReportRendering.line(file, report)
            }
            line = quiet ? nil : text()
        }
    }

    func write() throws {
        if let error { diagnostic.error(error) }
        if let line { try Output.line(line) }
    }
}
