import ArgumentParser
import CaptureBundle

/// The options of a command, as ArgumentParser itself describes them (`--experimental-dump-help`).
struct CommandOptions {
    private var takesValue = ["--generate-completion-script": true]
    /// The name of the last argument without an option, as help shows it; empty if there is none.
    private(set) var lastValue = ""

    /// Returns nil if the description has an unknown form.
    init?(_ type: any ParsableCommand.Type) {
        let dump = try? JSONParser.parse(Array(type._dumpHelp().utf8), nesting: 64)
        guard let command = dump?["command"] else { return nil }
        for argument in command["arguments"]?.elements ?? [] {
            if argument["kind"]?.text == "positional" { lastValue = argument["valueName"]?.text ?? "" }
            for name in argument["names"]?.elements ?? [] {
                let word = (name["kind"]?.text == "long" ? "--" : "-") + (name["name"]?.text ?? "")
                takesValue[word] = argument["kind"]?.text == "option"
            }
        }
    }

    /// Sorts the words of a command line.
    ///
    /// - Returns: The names; the options with their values; and the first word that begins with `-` and is neither an
    ///   option of this command nor a value, at which the search ends.
    func split(_ words: ArraySlice<String>) -> (names: [String], options: [String], unknown: String?) {
        var (names, options, words): ([String], [String], ArraySlice<String>) = ([], [], words)
        while let word = words.popFirst() {
            if word == "--" { return (names + words, options, nil) }
            guard word.hasPrefix("-"), word != "-" else {
                names.append(word)
                continue
            }
            let name = word.pieces(by: "=", limit: 2, keepsEmpty: true).first ?? word
            // Several flags can be one word: `-qj`.
            let letters = word.unicodeScalars.dropFirst().map { takesValue["-\($0)"] }
            let isLetters = !word.hasPrefix("--") && !letters.contains { $0 == nil }
            guard let hasValue = takesValue[name] ?? (isLetters ? letters.last ?? nil : nil) else {
                return (names, options, name)
            }
            options.append(word)
            if hasValue, word == name, let value = words.popFirst() { options.append(value) }
        }
        return (names, options, nil)
    }
}
