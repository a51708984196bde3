import ArgumentParser
import CaptureBundle
import CommandSupport
import SystemPackage

struct ShowCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "show",
        abstract: "Print what is inside a bundle.",
        discussion: """
            Shows what a bundle claims, and whether its contents and signature are valid; does not check trust. Of a \
            damaged bundle, it prints as much as can be read. Exit codes: 0, 1 or 2 as for "capbundle verify".

            Example:
              capbundle show cap.bundle
            """,
        aliases: ["inspect"])

    @Argument(help: "The bundle, or - for standard input.", completion: .file())
    var file: String

    @OptionGroup var format: JSONOption

    func run() throws {
        let inspection: Inspection
        do {
            inspection = try Inspection(BundleSource(path: FilePath(file: file)))
        } catch {
            if format.json {
                let report = "capture-bundle/show/1"
                try Output.json(ReportRendering.json(file, error, ExitStatus(error), report: report))
            }
            throw error
        }
        if format.json {
            try Output.json(InspectionRendering.json(file, inspection))
        } else {
            try Output.line(InspectionRendering.page(file, inspection).joined(separator: "\n"))
            inspection.report.faults.forEach(diagnostic.hints)
        }
        let status = ExitStatus(inspection.report.verdict)
        if status != .success { throw status }
    }
}
