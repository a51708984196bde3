import ArgumentParser
import CaptureBundle

/// A command with its options and subcommands, read from ArgumentParser's own description of the tool
/// (`--experimental-dump-help`), so that it always agrees with the real commands.
struct CommandTree {
    struct Option {
        /// With their dashes: `-o`, `--output`.
        let names: [String]
        let takesValue: Bool
        /// Whether the value may also begin with `-`.
        let takesAnyWord: Bool
        let isShown: Bool
    }

    let name: String
    let aliases: [String]
    let isShown: Bool
    let options: [Option]
    let subcommands: [CommandTree]

    /// Returns nil if the description has an unknown form.
    init?(_ root: any ParsableCommand.Type) {
        guard let dump = try? JSONParser.parse(Array(root._dumpHelp().utf8), nesting: 64),
            let command = dump["command"]
        else { return nil }
        self.init(command)
    }

    private init?(_ json: JSONValue) {
        guard let name = json["commandName"]?.text else { return nil }
        self.name = name
        aliases = (json["aliases"]?.elements ?? []).compactMap(\.text)
        isShown = Self.isShown(json)
        options = (json["arguments"]?.elements ?? []).compactMap { argument in
            let names = (argument["names"]?.elements ?? []).compactMap { name in
                name["name"]?.text.map { (name["kind"]?.text == "long" ? "--" : "-") + $0 }
            }
            guard !names.isEmpty else { return nil }
            return Option(
                names: names, takesValue: argument["kind"]?.text == "option",
                takesAnyWord: argument["parsingStrategy"]?.text == "unconditional", isShown: Self.isShown(argument))
        }
        subcommands = (json["subcommands"]?.elements ?? []).compactMap { CommandTree($0) }
    }

    private static func isShown(_ json: JSONValue) -> Bool {
        if case .bool(false) = json["shouldDisplay"] { false } else { true }
    }

    /// The subcommand with this name or alias.
    func subcommand(_ word: String) -> CommandTree? {
        subcommands.first { $0.name == word || $0.aliases.contains(word) }
    }

    /// The option that a word of the command line names: `--json`, `--dest=nas`, `-o`, or the last of several flags (`-qj`).
    func option(_ word: String) -> Option? {
        let name = word.pieces(by: "=", limit: 2, keepsEmpty: true).first ?? word
        if let option = options.first(where: { $0.names.contains(name) }) { return option }
        guard !word.hasPrefix("--"), word.utf8.count > 2 else { return nil }
        let letters = word.utf8.dropFirst().map { letter in
            options.first { $0.names.contains("-" + String(decoding: [letter], as: UTF8.self)) }
        }
        return letters.contains { $0 == nil } ? nil : letters.last ?? nil
    }

    /// The words that name each command below this one that fulfils `condition`: `["dest", "add"]`.
    func paths(where condition: (CommandTree) -> Bool) -> [[String]] {
        subcommands.filter(\.isShown).flatMap { command in
            (condition(command) ? [[command.name]] : []) + command.paths(where: condition).map { [command.name] + $0 }
        }
    }
}
