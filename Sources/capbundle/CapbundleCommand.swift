import ArgumentParser
import CaptureBundle
import CommandSupport

@main
struct CapbundleCommand: ParsableCommand {
    static let toolName = "capbundle"

    // Every command below states its name. Otherwise ArgumentParser would derive the names of all commands from their
    // types at each start.
    static var configuration: CommandConfiguration { RootConfiguration.of(fullConfiguration) }
    private static let fullConfiguration = CommandConfiguration(
        commandName: toolName,
        abstract: "Pack captures into signed files, verify them, and prepare uploads.",
        discussion: """
            A capture is a photo, its depth map and its metadata. Exit codes: 0 verified, 1 altered, \
            2 malformed, 3 unknown device, 4 not acceptable; with 64 and above, the command itself failed. \
            Instead of a file, "-" means standard input or output.
            """,
        example: [
            "capbundle key new",
            "capbundle trust add my-rig ~/.local/share/capbundle/device.key.pub",
            "capbundle pack raw/ -o cap.bundle",
            "capbundle verify cap.bundle",
        ],
        version: ProductVersion.current,
        subcommands: [
            PackCommand.self, VerifyCommand.self, ShowCommand.self, DepthCommand.self, ReportCommand.self,
            ChainCommand.self, StampCommand.self, ExtractCommand.self, RedactCommand.self, RestoreCommand.self,
            MultipartCommand.self,
            SignRequestCommand.self, FromBodyCommand.self, KeyCommand.self,
            TrustCommand.self,
        ])

    static func main() { CommandRunner.run(Self.self, tool: toolName) }
}

let diagnostic = Diagnostic(tool: CapbundleCommand.toolName)
