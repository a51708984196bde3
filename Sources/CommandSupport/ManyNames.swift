package import ArgumentParser

/// A command that takes many names. ArgumentParser needs time that grows with the square of their number (two seconds
/// for 10,000), so the names are removed from the command line before ArgumentParser reads the rest.
package protocol ManyNamesCommand: ParsableCommand {
    /// The names: all words that are neither options nor values.
    var names: [String] { get set }
}

enum ManyNames {
    /// Up to this number of names, ArgumentParser parses all of them.
    static let enough = 64
    /// The number of names that ArgumentParser still gets, so that it sees more than one.
    private static let kept = 2

    /// Parses a command line that begins with the name of the command.
    ///
    /// - Returns: nil if there are few names, or if only ArgumentParser can interpret a word on the line.
    static func parse(
        _ type: any ManyNamesCommand.Type, _ arguments: ArraySlice<String>, root: any ParsableCommand.Type
    ) throws -> (any ParsableCommand)? {
        guard let words = CommandOptions(type)?.split(arguments.dropFirst()), words.unknown == nil,
            words.names.count > enough
        else { return nil }
        let few = Array(arguments.prefix(1)) + words.options + ["--"] + words.names.prefix(kept)
        guard var command = try root.parseAsRoot(few) as? any ManyNamesCommand else { return nil }
        command.names = words.names
        try command.validate()
        return command
    }
}
