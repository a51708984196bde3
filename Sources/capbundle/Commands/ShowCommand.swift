import ArgumentParser
import CaptureBundle
import CapturePages
import CommandSupport
import SystemPackage

struct ShowCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "show",
        abstract: "Print what is inside a bundle.",
        discussion: """
            Shows what a bundle claims, and whether its contents and signature are valid; does not check trust. Of a \
            damaged bundle, it prints as much as can be read. Exit codes: 0, 1 or 2 as for "capbundle verify".
            """,
        example: ["capbundle show cap.bundle"],
        aliases: ["inspect"])

    @Argument(help: "The bundle, or - for standard input.", completion: .file())
    var file: String

    @Flag(help: "Also draw the photo and the depth map, on a terminal.")
    var picture = false

    @OptionGroup var format: JSONOption

    func validate() throws {
        if picture && format.json { throw ValidationError("give either --picture or --json") }
        if picture && !Output.isTerminal {
            throw ValidationError(
                "--picture draws on a terminal; to write a file: capbundle depth FILE --beside --image PICTURE.png")
        }
    }

    func run() throws {
        let (view, pictures) = try format.reporting("capture-bundle/show/1", of: file) {
            let source = try BundleSource(path: FilePath(file: file))
            if !picture { return (try UntrustedView(source), nil as Result<CaptureView, BundleError>?) }
            let found = try CaptureView.withBundle(source)
            return (found.bundle, found.pictures)
        }
        if format.json {
            try Output.json(ViewRendering.json(file, view))
        } else {
            try Output.line(ViewRendering.page(file, view).joined(separator: "\n"))
            for fault in view.report.faults { diagnostic.hints(of: fault, in: file) }
        }
        if let pictures, view.report.verdict != .altered, view.report.verdict != .malformed { try draw(pictures) }
        try ExitStatus(view.report.verdict).require()
    }

    private func draw(_ view: Result<CaptureView, BundleError>) throws {
        guard Style.isWantedOnOutput else {
            return diagnostic.note("no picture: the picture needs colours, but NO_COLOR is set or TERM is dumb")
        }
        try Output.write(TerminalPicture.bytes(view.get()))
    }
}
