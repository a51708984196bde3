package import ArgumentParser
import CaptureBundle
import CaptureNative
import Synchronization

/// Parses and runs a tool. It is the only place that turns errors into messages and exit codes.
package enum CommandRunner {
    /// Runs the tool and ends the process.
    ///
    /// - Parameter failure: Converts errors of a library that this module does not know; nil for all other errors.
    package static func run(
        _ root: any ParsableCommand.Type, tool: String, failure: (any Error) -> CommandFailure? = { _ in nil }
    ) -> Never {
        StandardStreams.holdPlaces()
        FreedMemory.keep()
        ProcessLimits.reportFileSize()
        // The libraries of a TPM print each of its answers; our own messages say what is wrong with a key.
        ProcessEnvironment.set("TSS2_LOG", "all+none")
        // libdispatch writes to the system log when a thread of its own may not have the priority that it asks for.
        ProcessEnvironment.set("LIBDISPATCH_LOG", "NO")
        let diagnostic = Diagnostic(tool: tool)
        let arguments = arguments(diagnostic)
        let isHelp = arguments.first == "help"
        // ArgumentParser shows the help of the root for a command that does not exist.
        if isHelp, arguments.dropFirst().first != "help" {
            refuseWrongWord(NamedCommand(root, tool: tool, arguments: arguments.dropFirst()), diagnostic)
        }
        do {
            var command = try RootConfiguration.parsing(arguments) { try parse(root, arguments) }
            let names = type(of: command).configuration.subcommandNames
            guard names.isEmpty else { throw ValidationError("a command is missing, expected one of \(names)") }
            try command.run()
            Output.exit(ExitStatus.success.rawValue)
        } catch let status as ExitStatus {
            Output.exit(status.rawValue)
        } catch {
            let found = (error as? BundleError).map { CommandFailure($0) } ?? failure(error)
            if let found { end(found, diagnostic) }
            finish(
                root, error: error,
                named: NamedCommand(root, tool: tool, arguments: arguments.dropFirst(isHelp ? 1 : 0)), diagnostic)
        }
    }

    /// Ends the process if a word of the command line names no command or no option. ArgumentParser would name the option
    /// that follows a wrong command, or what is missing because an option is wrong.
    private static func refuseWrongWord(_ named: NamedCommand, _ diagnostic: Diagnostic) {
        let names = named.type.configuration.subcommandNames
        if !names.isEmpty, let word = named.rest.first, word == "-" || !word.hasPrefix("-") {
            let words = (named.words + [word]).joined(separator: " ")
            let meant = OtherWords.command(for: words, of: named.tool)
            let end = meant.map { "; did you mean \($0)?" } ?? ", expected one of \(names)"
            diagnostic.usage("no command \"\(words)\"\(end)", hint: "see \(meant ?? named.line) --help")
        } else if let options = CommandOptions(named.type), let option = options.split(named.rest).unknown {
            let place = names.isEmpty || named.rest.count == 1 ? "" : "options go after the command; "
            let words = ArgumentExamples.wrongValue(option, for: options.lastValue) ?? "unknown option \"\(option)\""
            diagnostic.usage(words, hint: "\(place)see \(named.line) --help")
        } else {
            return
        }
        Output.exit(ExitStatus.usage.rawValue)
    }

    /// The arguments without the program's name. An argument that is not UTF-8 ends the process, because Swift would
    /// repair it and the tool would then work on a file with another name.
    private static func arguments(_ diagnostic: Diagnostic) -> [String] {
        do {
            return try ProcessArguments.all().dropFirst().map { bytes in
                if let argument = String(validating: bytes, as: UTF8.self) { return argument }
                diagnostic.usage(
                    "the argument \(String(decoding: bytes, as: UTF8.self)) is not UTF-8",
                    hint: "rename the file, or use a pipe")
                Output.exit(ExitStatus.usage.rawValue)
            }
        } catch {
            diagnostic.usage(
                "the arguments of this process cannot be read: /proc/self/cmdline: \(error.text)", hint: "mount /proc")
            Output.exit(ExitStatus.internalFailure.rawValue)
        }
    }

    private static func parse(
        _ root: any ParsableCommand.Type, _ arguments: [String]
    ) throws -> any ParsableCommand {
        let chosen = root.configuration.subcommands.first { $0.configuration.commandName == arguments.first }
        // A command that knows its tool is parsed alone, which saves ArgumentParser a look at the root and at all other
        // commands. Help and errors come from the root, because their messages name it.
        if let chosen, chosen.configuration._superCommandName != nil, arguments.count <= ManyNames.enough,
            let command = try? chosen.parseAsRoot(Array(arguments.dropFirst())), type(of: command) == chosen
        {
            return command
        }
        // The cast comes last, because it searches all conformances of the program, which takes time.
        if arguments.count > ManyNames.enough, let chosen = chosen as? any ManyNamesCommand.Type,
            let command = try ManyNames.parse(chosen, arguments[...], root: root)
        {
            return command
        }
        return try root.parseAsRoot(arguments)
    }

    private static func end(_ failure: CommandFailure, _ diagnostic: Diagnostic) -> Never {
        diagnostic.error(failure)
        Output.exit(failure.status.rawValue)
    }

    /// Prints help and the version to standard output. Everything else that the parser throws is a usage error.
    private static func finish(
        _ root: any ParsableCommand.Type, error: any Error, named: NamedCommand, _ diagnostic: Diagnostic
    ) -> Never {
        if root.exitCode(for: error).isSuccess {
            do { try Output.line(root.fullMessage(for: error)) } catch {
                end(CommandFailure(error), diagnostic)
            }
            Output.exit(ExitStatus.success.rawValue)
        }
        refuseWrongWord(named, diagnostic)
        let line = oneLine(root.message(for: error))
        let words = line.cut(to: 1).lowercased() + line.without(first: line.cut(to: 1).utf8.count)
        let plain = words.rest(before: ".") ?? words
        diagnostic.usage(plain + ArgumentExamples.words(for: plain), hint: "see \(named.line) --help")
        Output.exit(ExitStatus.usage.rawValue)
    }

    /// Puts a message on one line: the parser lists accepted values on separate lines.
    private static func oneLine(_ message: String) -> String {
        let lines = message.pieces(by: "\n").map { $0.rest(after: "  - ") ?? $0 }
        guard let first = lines.first, lines.count > 1 else { return message }
        return "\(first) \(lines.dropFirst().joined(separator: ", "))"
    }
}

/// The command that the first words of a command line name.
private struct NamedCommand {
    let tool: String
    private(set) var type: any ParsableCommand.Type
    private(set) var words: [String] = []
    /// The words after them.
    private(set) var rest: ArraySlice<String>

    var line: String { ([tool] + words).joined(separator: " ") }

    init(_ root: any ParsableCommand.Type, tool: String, arguments: ArraySlice<String>) {
        (self.tool, type, rest) = (tool, root, arguments)
        while let word = rest.first,
            let command = type.configuration.subcommands.first(where: { $0.configuration.names.contains(word) })
        {
            rest.removeFirst()
            type = command
            words.append(command.configuration.commandName ?? word)
        }
    }
}

extension CommandConfiguration {
    fileprivate var names: [String] { (commandName.map { [$0] } ?? []) + aliases }

    /// `add, list, set`.
    fileprivate var subcommandNames: String {
        subcommands.compactMap { $0.configuration.commandName }.joined(separator: ", ")
    }
}

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
