package import ArgumentParser

extension CommandConfiguration {
    /// The configuration of a command with a short example. One that needs several lines is easier to read as the end of
    /// the discussion.
    ///
    /// - Parameter example: the command lines of the example, which ends the help.
    package init(
        commandName: String, abstract: String, usage: String? = nil, discussion: String? = nil, example: [String],
        subcommands: [any ParsableCommand.Type] = [], aliases: [String] = []
    ) {
        let text = discussion.map { "\($0)\n\n" } ?? ""
        self.init(
            commandName: commandName, abstract: abstract, usage: usage,
            discussion: "\(text)Example:\n  \(example.joined(separator: "\n  "))",
            subcommands: subcommands, aliases: aliases)
    }
}
