import ArgumentParser
import CaptureQueue
import CommandSupport

@main
struct CapqueueCommand: ParsableCommand {
    static let version = "0.1.0"
    static let toolName = "capqueue"

    // Each command has an explicit name, so that ArgumentParser does not derive all names from the types at each start.
    static let configuration = CommandConfiguration(
        commandName: toolName,
        abstract: "Keep bundles safe until a server has them.",
        discussion: """
            When push prints an id and exits 0, the bundle is on the disk: no crash or power cut takes it away, and nothing \
            deletes it before a destination has it and 7 days have passed. The queue is in CAPQUEUE_DIR, else \
            $XDG_DATA_HOME/capqueue, and is made on first use. Exit codes: 1 to 4 are the verdict on a bundle, 10 in use, \
            12 a limit refuses, 14 failed for good, 15 work is left; 64 and above are failures of the command.

            Example:
              capqueue push cap.bundle
              capbundle pack raw/ -o - | capqueue push -
              capqueue list
              capqueue prune --dry-run
            """,
        version: version,
        subcommands: [
            PushCommand.self, AdoptCommand.self, ListCommand.self, ShowCommand.self, HistoryCommand.self,
            GetCommand.self, StatusCommand.self, HoldCommand.self, ReleaseCommand.self, CancelCommand.self,
            RetryCommand.self, RunCommand.self, PauseCommand.self, ResumeCommand.self, WaitCommand.self,
            MarkUploadedCommand.self, ExportCommand.self, PruneCommand.self,
            CheckCommand.self, SalvageCommand.self, SessionCommand.self, DestinationCommand.self, ConfigCommand.self,
        ])

    static func main() { CommandRunner.run(Self.self, tool: toolName, failure: CommandFailure.init(of:)) }
}

let diagnostic = Diagnostic(tool: CapqueueCommand.toolName)
