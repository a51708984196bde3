package import ArgumentParser
import CaptureBundle
import CaptureNative

/// Parses and runs a tool. It is the only place that turns errors into messages and exit codes.
package enum CommandRunner {
    /// Runs the tool and ends the process.
    ///
    /// - Parameters:
    ///   - words: Words of other tools for our commands. They are made only for a command line that is wrong.
    ///   - failure: Converts errors of a library that this module does not know; nil for all other errors.
    package static func run(
        _ root: any ParsableCommand.Type, tool: String, words: @autoclosure () -> OtherWords,
        failure: (any Error) -> CommandFailure? = { _ in nil }
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
        // ArgumentParser shows the help of the root for a command that does not exist.
        if arguments.first == "help" { refuseWrongWord(root, arguments, words(), diagnostic) }
        do {
            var command = try RootConfiguration.parsing(arguments) { try parse(root, arguments) }
            let group = type(of: command).configuration
            guard group.subcommands.isEmpty else {
                let names = group.subcommands.compactMap { $0.configuration.commandName }
                throw ValidationError("a command is missing, expected one of \(names.joined(separator: ", "))")
            }
            try command.run()
            Output.exit(ExitStatus.success.rawValue)
        } catch let status as ExitStatus {
            Output.exit(status.rawValue)
        } catch let error as BundleError {
            diagnostic.error(error)
            Output.exit(ExitStatus(error).rawValue)
        } catch {
            if let failure = failure(error) {
                diagnostic.error(failure)
                Output.exit(failure.status.rawValue)
            }
            if !root.exitCode(for: error).isSuccess { refuseWrongWord(root, arguments, words(), diagnostic) }
            finish(root, error, commandLine(root, tool, arguments), diagnostic)
        }
    }

    /// Ends the process if a word of the command line names no command or no option.
    private static func refuseWrongWord(
        _ root: any ParsableCommand.Type, _ arguments: [String], _ words: OtherWords, _ diagnostic: Diagnostic
    ) {
        guard let tree = CommandTree(root),
            let wrong = WordSearch(root: tree, habits: words).wrongWord(arguments)
        else { return }
        diagnostic.usage(wrong.message, hint: wrong.hint)
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

    /// Prints help and the version to standard output. Everything else that the parser throws is a usage error.
    private static func finish(
        _ root: any ParsableCommand.Type, _ error: any Error, _ commandLine: String, _ diagnostic: Diagnostic
    ) -> Never {
        if root.exitCode(for: error).isSuccess {
            do {
                try Output.line(root.fullMessage(for: error))
            } catch {
                diagnostic.error(error)
                Output.exit(ExitStatus(error).rawValue)
            }
            Output.exit(ExitStatus.success.rawValue)
        }
        let message = root.message(for: error)
        let line = oneLine(message)
        let words = line.cut(to: 1).lowercased() + line.without(first: line.cut(to: 1).utf8.count)
        let plain = words.rest(before: ".") ?? words
        diagnostic.usage(
            plain + ArgumentExamples.words(for: plain),
            hint: "see \(commandLine) --help")
        Output.exit(ExitStatus.usage.rawValue)
    }

    /// Puts a message on one line: the parser lists accepted values on separate lines.
    private static func oneLine(_ message: String) -> String {
        let lines = message.pieces(by: "\n").map { $0.rest(after: "  - ") ?? $0 }
        guard let first = lines.first, lines.count > 1 else { return message }
        return "\(first) \(lines.dropFirst().joined(separator: ", "))"
    }

    /// The part of the command line that names commands, such as `capbundle trust add`.
    private static func commandLine(
        _ root: any ParsableCommand.Type, _ tool: String, _ arguments: [String]
    ) -> String {
        var words = [tool]
        var command = root
        for argument in arguments {
            let next = command.configuration.subcommands.first { subcommand in
                let configuration = subcommand.configuration
                return configuration.commandName == argument || configuration.aliases.contains(argument)
            }
            guard let next else { break }
            words.append(next.configuration.commandName ?? argument)
            command = next
        }
        return words.joined(separator: " ")
    }
}
