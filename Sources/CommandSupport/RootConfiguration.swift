package import ArgumentParser
import Synchronization

/// The configuration of a tool's first command, for a quick start.
package enum RootConfiguration {
    /// Whether the configuration is wanted for parsing only, and not for help, messages or a completion script.
    private static let isQuick = Atomic(false)

    /// ArgumentParser parses each command line for a completion script twice before it parses the command, which takes
    /// half of the instructions of a start. It does not for a root command with the name of a command above it, so the
    /// root gets an empty one while the command line is parsed.
    package static func of(_ configuration: CommandConfiguration) -> CommandConfiguration {
        guard isQuick.load(ordering: .relaxed) else { return configuration }
        var quick = configuration
        quick._superCommandName = ""
        return quick
    }

    /// Parses a command line, quickly unless it may ask for a completion script.
    static func parsing<Value>(_ arguments: [String], _ parse: () throws -> Value) rethrows -> Value {
        let asksForScript = arguments.contains { $0.utf8.starts(with: "--generate-completion-script".utf8) }
        isQuick.store(!asksForScript, ordering: .relaxed)
        defer { isQuick.store(false, ordering: .relaxed) }
        return try parse()
    }
}
