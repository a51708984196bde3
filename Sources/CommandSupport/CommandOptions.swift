import ArgumentParser
import CaptureBundle

/// The options of a command, as ArgumentParser itself describes them (`--experimental-dump-help`).
struct CommandOptions {
    private var takesValue = ["--generate-completion-script": true]

    /// Returns nil if the description has an unknown form.
    init?(_ type: any ParsableCommand.Type) {
        let dump = try? JSONParser.parse(Array(type._dumpHelp().utf8), nesting: 64)
        guard let command = dump?["command"] else { return nil }
        for argument in command["arguments"]?.elements ?? [] {
            for name in argument["names"]?.elements ?? [] {
                let word = (name["kind"]?.text == "long" ? "--" : "-") + (name["name"]?.text ?? "")
                takesValue[word] = argument["kind"]?.text == "option"
            }
        }
    }

    /// Whether a value follows this option; nil if there is no such option.
    func takesValue(_ option: String) -> Bool? { takesValue[option] }

    /// The first word of a command line that begins with `-` and is neither an option of this command nor a value.
    func unknown(in words: ArraySlice<String>) -> String? {
        var rest = words
        while let word = rest.popFirst(), word != "--" {
            guard word.hasPrefix("-"), word != "-" else { continue }
            let name = word.pieces(by: "=", limit: 2, keepsEmpty: true).first ?? word
            // Several flags can be one word: `-qj`.
            let letters = word.unicodeScalars.dropFirst().map { takesValue["-\($0)"] }
            let isLetters = !word.hasPrefix("--") && !letters.contains { $0 == nil }
            guard let hasValue = takesValue[name] ?? (isLetters ? letters.last ?? nil : nil) else { return name }
            if hasValue, word == name { rest = rest.dropFirst() }
        }
        return nil
    }
}
