import ArgumentParser
import CaptureBundle
import CommandSupport
import SystemPackage

struct DepthCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "depth",
        abstract: "Look at a depth map: statistics, a server's analysis, a picture.",
        discussion: """
            Takes a bundle, of which it verifies every byte without checking trust, or a raw folder. It prints \
            statistics, and the analysis by which a RealityCam server tells a real scene from a photographed screen, \
            so that you know the server's answer before the upload. Exit codes: 0, 1 or 2 as for "capbundle verify"; \
            the analysis does not change them.

            Example:
              capbundle depth cap.bundle
            """)

    @Argument(help: "The bundle, - for one from standard input, or a raw folder.", completion: .file())
    var file: String

    @OptionGroup var format: JSONOption

    func run() throws {
        do throws(BundleError) {
            let look = try CaptureLook.read(FilePath(file: file), withPhoto: false)
            if format.json {
                try Output.json(DepthRendering.json(file, look.depth))
            } else {
                try Output.line(DepthRendering.page(file, look.depth).joined(separator: "\n"))
            }
        } catch {
            if format.json {
                try Output.json(ReportRendering.json(file, error, ExitStatus(error), report: DepthRendering.report))
            }
            throw error
        }
    }
}
