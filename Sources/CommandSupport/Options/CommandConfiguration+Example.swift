package import ArgumentParser

extension CommandConfiguration {
    /// The configuration of a command with an example.
    ///
    /// - Parameter example: the lines of the example, which ends the help.
    package init(
        commandName: String, abstract: String, usage: String? = nil, discussion: String? = nil, example: [String],
        version: String = "", subcommands: [any ParsableCommand.Type] = [], groupedSubcommands: [CommandGroup] = [],
        aliases: [String] = []
    ) {
        let text = discussion.map { "\($0)\n\n" } ?? ""
        self.init(
            commandName: commandName, abstract: abstract, usage: usage,
            discussion: "\(text)Example:\n  \(example.joined(separator: "\n  "))", version: version,
            subcommands: subcommands, groupedSubcommands: groupedSubcommands, aliases: aliases)
    }
}
