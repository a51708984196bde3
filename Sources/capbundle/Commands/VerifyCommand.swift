import ArgumentParser
import CaptureBundle
import CommandSupport

struct VerifyCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "verify",
        abstract: "Verify bundles: are they whole, and who vouches for the device that signed?",
        discussion: """
            Exit codes: 0 verified, 1 contents or signature wrong, 2 not a well-formed bundle, 3 nobody vouches for the \
            device, 4 not acceptable (revoked, outside its window, withheld, a --require not met). Of several files the \
            worst wins.

            Example:
              capbundle verify cap.bundle
              curl -s https://example.org/cap.bundle | capbundle verify --require depth -
            """)

    @Argument(help: ArgumentHelp("Bundles; - is a pipe.", valueName: "file"))
    var files: [String]

    @Option(
        help: ArgumentHelp(
            "Parts that must be there, separated by commas.",
            discussion: "photo, depth, metadata, location, confidence, source, chain", valueName: "parts"))
    var require: RequiredParts = RequiredParts(parts: [])

    @Flag(help: "Accept bundles from which withholdable entries were taken out.")
    var allowWithheld = false

    @Flag(name: [.short, .long], help: "Print nothing on standard output; the exit code says it all.")
    var quiet = false

    @OptionGroup var format: JSONOption
    @OptionGroup var trust: TrustOptions

    func validate() throws {
        if files.isEmpty { throw ValidationError("give at least one bundle") }
        if files.count(where: { $0 == "-" }) > 1 {
            throw ValidationError("- stands for one pipe, so it can be given once")
        }
    }

    func run() throws {
        let verifier = Verifier(
            trust: try Environment.trustFile(trust.path),
            policy: VerificationPolicy(required: require.parts, allowsWithheld: allowWithheld))
        var statuses: [ExitStatus] = []
        for file in files { statuses.append(try verify(file, with: verifier)) }
        if files.count > 1 && !quiet && !format.json { try Output.line(Self.summary(statuses)) }
        let worst = ExitStatus.worst(statuses)
        if worst != .success { throw worst }
    }

    private func verify(_ file: String, with verifier: Verifier) throws -> ExitStatus {
        let report: VerificationReport
        do {
            report = try verifier.verify(BundleSource(path: file))
        } catch {
            diagnostic.error(error)
            let status = ExitStatus(error)
            if format.json && !quiet { try Output.json(ReportRendering.json(file, error, status)) }
            return status
        }
        if !quiet {
            if format.json {
                try Output.json(ReportRendering.json(file, report))
            } else if files.count > 1 {
                try Output.line(ReportRendering.line(file, report))
            } else {
                for line in ReportRendering.page(file, report) { try Output.line(line) }
                if report.verdict == .unknownDevice && file != "-" {
                    diagnostic.note(
                        "if that key id is the one that the device itself shows, vouch for it with: "
                            + "capbundle trust add NAME --from \(ShellWord.quote(file))")
                }
            }
        }
        return ExitStatus(report.verdict)
    }

    private static func summary(_ statuses: [ExitStatus]) -> String {
        let counts = Verdict.allCases.map { verdict in
            (verdict.word, statuses.count { $0 == ExitStatus(verdict) })
        }
        let known = counts.reduce(0) { $0 + $1.1 }
        let all = counts + [("unreadable", statuses.count - known)]
        let parts = all.filter { $0.1 > 0 }.map { "\(Quantity.grouped($0.1)) \($0.0)" }
        return "\(Quantity.count(statuses.count, "bundle")): \(parts.joined(separator: ", "))"
    }
}

/// The value of `--require`.
struct RequiredParts: ExpressibleByArgument {
    let parts: [VerificationPolicy.Part]

    init(parts: [VerificationPolicy.Part]) { self.parts = parts }

    init?(argument: String) {
        var parts: [VerificationPolicy.Part] = []
        for word in argument.split(separator: ",", omittingEmptySubsequences: false) {
            guard let part = VerificationPolicy.Part(rawValue: String(word)) else { return nil }
            parts.append(part)
        }
        self.parts = parts
    }

    var defaultValueDescription: String { "nothing" }
}
