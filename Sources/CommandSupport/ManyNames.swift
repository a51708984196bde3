package import ArgumentParser

/// A command that takes many names. ArgumentParser needs time that grows with the square of their number (10,000 take two
/// seconds), so the names are taken out of the command line before it reads the rest.
package protocol ManyNamesCommand: ParsableCommand {
    /// All options that are followed by a value, and all flags, as they are written.
    static var valueOptions: Set<String> { get }
    static var flags: Set<String> { get }
    /// The names: what is neither an option nor a value.
    var names: [String] { get set }
}

enum ManyNames {
    /// Fewer are left to ArgumentParser.
    static let enough = 64
    /// What is left in for it, so that it sees that there are several.
    private static let kept = 2

    /// Parses a command line whose first word is the command's name.
    ///
    /// - Returns: nil when there are few names, or something on the line that only ArgumentParser can tell.
    static func parse(
        _ type: any ManyNamesCommand.Type, _ arguments: ArraySlice<String>, root: any ParsableCommand.Type
    ) throws -> (any ParsableCommand)? {
        guard let (names, rest) = split(arguments.dropFirst(), type) else { return nil }
        guard names.count > enough else { return nil }
        let few = Array(arguments.prefix(1)) + rest + ["--"] + names.prefix(kept)
        guard var command = try root.parseAsRoot(few) as? any ManyNamesCommand else { return nil }
        command.names = names
        try command.validate()
        return command
    }

    private static func split(
        _ words: ArraySlice<String>, _ type: any ManyNamesCommand.Type
    ) -> (names: [String], rest: [String])? {
        var names: [String] = []
        var rest: [String] = []
        var words = words
        while let word = words.popFirst() {
            if word == "--" {
                names += words
                break
            }
            if word == "-" || !word.hasPrefix("-") {
                names.append(word)
            } else if type.flags.contains(word) {
                rest.append(word)
            } else if type.valueOptions.contains(word), let value = words.popFirst() {
                rest += [word, value]
            } else {
                return nil
            }
        }
        return (names, rest)
    }
}
