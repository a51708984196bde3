package import CaptureBundle
import CaptureNative

/// A passphrase that is kept in a file: its first line.
package enum PassphraseFile {
    private static let sizeLimit = 1 << 16

    /// - Parameter path: nil for none; `CAPBUNDLE_PASSPHRASE_FILE` is looked at then.
    /// - Throws: `input.unreadable`, or `key.passphrase` when the first line is empty.
    package static func read(_ path: String?) throws(BundleError) -> [UInt8]? {
        guard let path = path ?? ProcessEnvironment.value("CAPBUNDLE_PASSPHRASE_FILE") else { return nil }
        let bytes: [UInt8]
        do {
            bytes = try FileHandle.reading(path).readAll(limit: sizeLimit)
        } catch {
            throw BundleError(.inputUnreadable, "the passphrase file cannot be read: \(error.text)", file: path)
        }
        var line = Array(bytes.prefix { $0 != UInt8(ascii: "\n") })
        if line.last == UInt8(ascii: "\r") { line.removeLast() }
        guard !line.isEmpty else {
            throw BundleError(.keyPassphrase, "the first line, which is the passphrase, is empty", file: path)
        }
        return line
    }
}
