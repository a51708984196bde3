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

            Example:
              capbundle key new
              capbundle trust add my-rig ~/.local/share/capbundle/device.key.pub
              capbundle pack raw/ -o cap.bundle
              capbundle verify cap.bundle
            """,
        version: ProductVersion.current,
        subcommands: [
            PackCommand.self, VerifyCommand.self, ShowCommand.self, DepthCommand.self, ReportCommand.self,
            ChainCommand.self, StampCommand.self, ExtractCommand.self, RedactCommand.self, RestoreCommand.self,
            MultipartCommand.self,
            SignRequestCommand.self, FromBodyCommand.self, KeyCommand.self,
            TrustCommand.self,
        ])

    static func main() { CommandRunner.run(Self.self, tool: toolName, words: words) }
}

extension CapbundleCommand {
    /// Words of other tools; HelpTests shows that each names a command that there is.
    static let words = OtherWords(
        hints: hints,
        commands: [
            "create": "pack", "make": "pack", "seal": "pack", "sign": "pack", "build": "pack",
            "check": "verify", "validate": "verify", "test": "verify", "audit": "verify",
            "info": "show", "dump": "show", "print": "show",
            "unpack": "extract", "open": "extract", "get": "extract", "cat": "extract", "export": "extract",
            "withhold": "redact", "strip": "redact", "hide": "redact", "reveal": "restore", "merge": "restore",
            "html": "report", "page": "report", "gallery": "report",
            "timestamp": "stamp", "tsa": "stamp", "ts": "stamp",
            "gaps": "chain", "links": "chain", "order": "chain", "sequence": "chain",
            "body": "multipart", "receive": "from-body", "unwrap": "from-body",
            "keygen": "key new", "keys": "key show", "keys new": "key new", "keys create": "key new",
            "init": "key new",
            "push": "capqueue push", "queue": "capqueue push", "send": "capqueue push", "upload": "capqueue push",
            "add": "capqueue push", "adopt": "capqueue adopt", "run": "capqueue run", "wait": "capqueue wait",
            "status": "capqueue status", "list": "capqueue list", "ls": "capqueue list", "history": "capqueue history",
            "retry": "capqueue retry", "cancel": "capqueue cancel", "hold": "capqueue hold",
            "release": "capqueue release", "prune": "capqueue prune", "dest": "capqueue dest",
            "session": "capqueue session", "pause": "capqueue pause", "resume": "capqueue resume",
            "config": "capqueue config", "salvage": "capqueue salvage",
            "key create": "key new", "key generate": "key new", "key add": "key new", "key list": "key show",
            "key ls": "key show", "key id": "key show", "key info": "key show", "key export": "key public",
            "key repair": "key recover", "key restore": "key recover", "key password": "key passwd",
            "key passphrase": "key passwd", "key encrypt": "key passwd",
            "trust distrust": "trust revoke", "trust show": "trust list", "trust import": "trust add",
            "trust new": "trust add", "trust edit": "trust set", "trust update": "trust set",
        ])

    private static let hints = [
        "trust remove": forgetting, "trust rm": forgetting, "trust delete": forgetting, "trust del": forgetting,
    ]

    private static let forgetting =
        "to forget a device, delete its line in the trust file; "
        + "to refuse all that it ever signed: capbundle trust revoke NAME"
}

let diagnostic = Diagnostic(tool: CapbundleCommand.toolName)
