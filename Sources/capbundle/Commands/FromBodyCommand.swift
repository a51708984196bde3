import ArgumentParser
import CaptureBundle
import CommandSupport
import SystemPackage

struct FromBodyCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "from-body",
        abstract: "Restore a bundle from an upload body, and verify it.",
        usage: "capbundle from-body BODY -o FILE [options]",
        discussion: """
            Does in one pass what a receiving server does. Writes the bundle only if the body, the contents and the \
            signature are valid. The exit codes are those of "capbundle verify"; with 0, 3 and 4 the bundle was written.
            """,
        example: ["capbundle from-body body -o cap.bundle"])

    @Argument(help: "The upload body, or - for standard input.", completion: .file())
    var body: String

    @OptionGroup var output: BundleOutputOption

    @OptionGroup var force: ForceOption
    @OptionGroup var requirements: PolicyOptions

    @Flag(name: [.short, .long], help: "Print nothing on standard output; the exit code gives the result.")
    var quiet = false

    @OptionGroup var format: JSONOption
    @OptionGroup var trust: TrustOptions

    func validate() throws {
        try requirements.refuseFreshAndTime()
        try output.requireNoTerminal()
    }

    func run() throws {
        let receiver = BundleReceiver(
            trust: try trust.file(warn: diagnostic.warning), policy: try requirements.policy())
        let received = try format.reporting(
            Self.name, of: body, to: output.path, isQuiet: quiet
        ) {
            try receiver.receive(
                BundleSource(path: FilePath(file: body)), to: force.place(output.path, besides: trust.files))
        }
        if !quiet {
            let text =
                format.json
                ? Output.jsonText(json(received))
                : ReportRendering.page(body, received.report).joined(separator: "\n")
            try Output.line(text, beside: [output.path])
            for fault in received.report.faults { diagnostic.hints(of: fault, in: body) }
            diagnostic.note(received.isKept ? "wrote \(output.path)" : "nothing was written to \(output.path)")
        }
        try ExitStatus(received.report.verdict).require()
    }

    private static let name = "capture-bundle/from-body/1"

    private func json(_ received: BundleReceiver.Received) -> JSONValue {
        var members = ReportRendering.json(body, received.report, name: Self.name).members ?? []
        if received.isKept { members.append(.init("output", .string(output.path))) }
        return .object(members)
    }
}

/// The place of the one bundle that a command writes.
struct BundleOutputOption: ParsableArguments {
    @Option(
        name: [.customShort("o"), .customLong("output")],
        help: ArgumentHelp(
            "The bundle to write, or - for standard output.", discussion: "With -, --json prints on standard error.",
            valueName: "file"), completion: .file())
    var path: String

    /// Comes after what a command finds wrong by itself.
    func requireNoTerminal() throws { try refuseTerminal(path, "a bundle") }
}
