/// A word for a shell command that a message proposes.
package enum ShellWord {
    private static let plain = Set("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789/._-+,:@%".utf8)

    /// The word in single quotes, unless it needs none.
    package static func quote(_ word: String) -> String {
        if !word.isEmpty && word.utf8.allSatisfy(plain.contains) { return word }
        return "'" + word.split(separator: "'", omittingEmptySubsequences: false).joined(separator: "'\\''") + "'"
    }
}
