import ArgumentParser
import CaptureBundle

/// Receives captures over HTTP, verifies them, keeps them in a queue and passes them on.
@main
struct Receiver: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "receiver",
        abstract: "Receive captures over HTTP, verify them, keep them and pass them on.",
        version: ProductVersion.current,
        subcommands: [
            ServeCommand.self, InviteCommand.self, DevicesCommand.self, RevokeCommand.self, ShareCommand.self,
        ])
}
