import ArgumentParser
import CaptureBundle
import CaptureNative
import CommandSupport
import QueueModel

@main
struct CapqueueCommand: ParsableCommand {
    static let toolName = "capqueue"

    // Each command has an explicit name, so that ArgumentParser does not derive all names from the types at each start.
    static var configuration: CommandConfiguration { RootConfiguration.of(fullConfiguration) }
    private static let fullConfiguration = CommandConfiguration(
        commandName: toolName,
        abstract: "Keep bundles safe until a server has them.",
        discussion: """
            When push prints an id and exits 0, the bundle is on the disk: it survives a crash or a power cut, and \
            nothing deletes it before a destination has it and 7 days have passed. The queue is in CAPQUEUE_DIR, else \
            $XDG_DATA_HOME/capqueue, where the first push makes it; elsewhere: capqueue init. Exit codes: 1 to 4 are the verdict on a bundle, 10 the \
            queue is in use, 12 a limit is reached, 14 a capture failed for good, 15 work is left; 64 and above are \
            failures of the command.
            """,
        example: [
            "capqueue push cap.bundle",
            "capbundle pack raw/ -o - | capqueue push -",
            "capqueue list",
            "capqueue prune --dry-run",
        ],
        version: ProductVersion.current,
        groupedSubcommands: [
            CommandGroup(
                name: "Everyday",
                subcommands: [
                    PushCommand.self, AdoptCommand.self, RunCommand.self, WaitCommand.self, StatusCommand.self,
                    ReportCommand.self, ListCommand.self, ShowCommand.self, HistoryCommand.self, GetCommand.self,
                    HoldCommand.self, ReleaseCommand.self, CancelCommand.self, RetryCommand.self, PruneCommand.self,
                ]),
            CommandGroup(
                name: "Destination",
                subcommands: [
                    InitCommand.self, DestinationCommand.self, SessionCommand.self, PauseCommand.self,
                    ResumeCommand.self,
                    ConfigCommand.self,
                ]),
            CommandGroup(
                name: "Repair",
                subcommands: [
                    CheckCommand.self, BackupCommand.self, RestoreBackupCommand.self, SalvageCommand.self,
                    ExportCommand.self,
                    MarkUploadedCommand.self,
                ]),
        ])

    static func main() {
        BusError.handle { _ in
            BusError.end(
                """
                capqueue: error: the disk of the queue has no room, or cannot be read (SIGBUS)
                capqueue: hint: free some space; what push printed an id for is stored\n
                """, 74)
        }
        CommandRunner.run(Self.self, tool: toolName, failure: CommandFailure.init(of:))
    }
}

let diagnostic = Diagnostic(tool: CapqueueCommand.toolName)
