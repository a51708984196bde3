package import CaptureBundle
import CaptureNative
import SystemPackage

/// Reads a passphrase from the first line of a file.
package enum PassphraseFile {
    private static let sizeLimit = 1 << 16

    /// The named file, or else that of `CAPBUNDLE_PASSPHRASE_FILE`.
    static func path(_ option: String?) -> FilePath? {
        option.map { FilePath(file: $0) } ?? ProcessEnvironment.path("CAPBUNDLE_PASSPHRASE_FILE")
    }

    /// Reads the passphrase; nil if no file is named.
    ///
    /// - Parameters:
    ///   - path: The file; if it is nil, `CAPBUNDLE_PASSPHRASE_FILE` names the file.
    ///   - warn: Receives a warning if others can read the file.
    /// - Throws: `input.unreadable`, or `key.passphrase` if the first line is empty.
    package static func read(_ path: String?, warn: (BundleError) -> Void) throws(BundleError) -> [UInt8]? {
        guard let path = Self.path(path) else { return nil }
        let bytes = try native({
            BundleError(.inputUnreadable, "the passphrase file cannot be read: \($0.text)", file: path)
        }) {
            let handle = try FileHandle.reading(path)
            FileAccess.exposure(ofSecret: path, try handle.status()).map(warn)
            return try handle.readAll(limit: sizeLimit)
        }
        var line = Array(bytes.prefix { $0 != UInt8(ascii: "\n") })
        if line.last == UInt8(ascii: "\r") { line.removeLast() }
        guard !line.isEmpty else {
            throw BundleError(.keyPassphrase, "the first line, which is the passphrase, is empty", file: path)
        }
        return line
    }
}

/// Asks for a passphrase on the terminal.
package enum PassphrasePrompt {
    /// - Returns: nil if there is no terminal or nothing was typed.
    package static func read(_ prompt: String) throws(BundleError) -> [UInt8]? {
        do {
            let line = try Terminal.readSecret(prompt: Visible.text(prompt))
            return line?.isEmpty ?? true ? nil : line
        } catch {
            if error.isTooLarge {
                throw BundleError(
                    .keyPassphrase, "the passphrase is longer than a line of the terminal can be",
                    advice: ["to read it from a file: --passphrase-file FILE"])
            }
            throw BundleError(.inputOutput, "cannot be read: \(error.text)", file: "the terminal")
        }
    }

    /// Asks twice for a new passphrase.
    ///
    /// - Parameter advice: How to give it otherwise, for a call without a terminal.
    /// - Throws: `key.passphrase` if there is no terminal, nothing was typed, or the two inputs differ.
    package static func readNew(advice: [String]) throws(BundleError) -> [UInt8] {
        guard let first = try read("New passphrase: ") else {
            throw BundleError(.keyPassphrase, "no new passphrase was given", advice: advice)
        }
        guard try read("Repeat the passphrase: ") == first else {
            throw BundleError(.keyPassphrase, "the two passphrases differ; nothing was changed")
        }
        return first
    }
}
