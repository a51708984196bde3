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
        guard let options = CommandOptions(type) else { return nil }
        var names: [String] = []
        var rest: [String] = []
        var words = words
        while let word = words.popFirst() {
            let takesValue = options.takesValue(word)
            if word == "--" {
                names += words
                break
            }
            if word == "-" || !word.hasPrefix("-") {
                names.append(word)
            } else if takesValue == false {
                rest.append(word)
            } else if takesValue == true, let value = words.popFirst() {
                rest += [word, value]
            } else {
                return nil
            }
        }
        return (names, rest)
    }
}
