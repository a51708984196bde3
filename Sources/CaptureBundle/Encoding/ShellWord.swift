package import SystemPackage

/// Quotes a word for a shell command that a message proposes.
package enum ShellWord {
    private static let plain = Set("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789/._-+,:@%".utf8)

    /// The word, in single quotes if it needs them.
    package static func quote(_ word: String) -> String {
        if !word.isEmpty && word.utf8.allSatisfy(plain.contains) { return word }
        var quoted = Array("'".utf8)
        for byte in word.utf8 {
            if byte == UInt8(ascii: "'") { quoted += "'\\''".utf8 } else { quoted.append(byte) }
        }
        return String(decoding: quoted + Array("'".utf8), as: UTF8.self)
    }

    /// A path. If it begins with a hyphen, `./` is added, so that no command takes it for an option.
    package static func quote(_ path: FilePath) -> String {
        let text = path.string
        return quote(text.utf8.first == UInt8(ascii: "-") ? "./" + text : text)
    }
}
