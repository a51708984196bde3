package import CaptureBundle
import CaptureNative

/// Reads lines of text from standard input.
package enum LineList {
    private static let sizeLimit = 1 << 28

    /// The lines, without empty ones.
    ///
    /// - Throws: `input.unreadable` if a line is not UTF-8, `names.none` if there are no lines, and `io.failed`.
    package static func read() throws(BundleError) -> [String] {
        let bytes: [UInt8]
        do {
            bytes = try FileHandle.standardInput.readAll(limit: sizeLimit)
        } catch {
            throw BundleError(.inputOutput, "cannot be read: \(error.text)", file: "standard input")
        }
        let lines = try bytes.split(separator: UInt8(ascii: "\n")).map { line throws(BundleError) in
            guard let text = String(validating: line, as: UTF8.self) else {
                throw BundleError(.inputUnreadable, "a line is not UTF-8", file: "standard input")
            }
            return text.rest(before: "\r") ?? text
        }.filter { !$0.isEmpty }
        if lines.isEmpty {
            throw BundleError(.noNames, "no ids were read, expected one on each line", file: "standard input")
        }
        return lines
    }
}

/// Collects output lines and writes many of them at a time.
package final class OutputBuffer {
    private var bytes: [UInt8] = []

    package init() {}

    package func line(_ text: String) throws(BundleError) {
        bytes += text.utf8
        bytes.append(UInt8(ascii: "\n"))
        if bytes.count >= 1 << 15 { try flush() }
    }

    /// Writes the collected lines; call it at the end.
    package func flush() throws(BundleError) {
        guard !bytes.isEmpty else { return }
        let waiting = bytes
        bytes.removeAll(keepingCapacity: true)
        try Output.write(waiting)
    }
}
