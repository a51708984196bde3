package import SystemPackage

/// Makes text from outside safe to print: a bundle must not be able to control a terminal.
package enum Visible {
    /// The text with control characters, bidirectional controls and similar characters replaced by `\u{…}`.
    package static func text(_ text: String) -> String {
        if text.utf8.allSatisfy({ (0x20...0x7e).contains($0) }) { return text }
        return text.unicodeScalars.map { scalar in
            isPlain(scalar) ? String(scalar) : "\\u{\(String(scalar.value, radix: 16))}"
        }.joined()
    }

    /// Whether a character has a shape of its own.
    package static func isPlain(_ scalar: Unicode.Scalar) -> Bool {
        if (0x20...0x7e).contains(scalar.value) { return true }
        return switch scalar.properties.generalCategory {
        case .control, .format, .surrogate, .privateUse, .unassigned, .lineSeparator, .paragraphSeparator: false
        default: true
        }
    }
}

/// Quotes a word for a shell command that a message proposes.
package enum ShellWord {
    private static let plain = Set("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789/._-+,:@%".utf8)

    /// The word, in single quotes if it needs them.
    package static func quote(_ word: String) -> String {
        if !word.isEmpty && word.utf8.allSatisfy(plain.contains) { return word }
        return "'" + word.pieces(around: "'").joined(separator: "'\\''") + "'"
    }

    /// A path. If it begins with a hyphen, `./` is added, so that no command takes it for an option.
    package static func quote(_ path: FilePath) -> String {
        let text = path.string
        return quote(text.utf8.first == UInt8(ascii: "-") ? "./" + text : text)
    }
}
