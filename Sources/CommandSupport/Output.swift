package import CaptureBundle
import CaptureNative
import Glibc

/// Standard output is for data, standard error for people.
package enum Output {
    /// Writes a line of data. Text from a bundle must have gone through `Visible.text`.
    ///
    /// - Throws: `io.failed`, so that a full disk is not taken for success.
    package static func line(_ text: String) throws(BundleError) {
        try write(Array((text + "\n").utf8))
    }

    package static func json(_ value: JSONValue) throws(BundleError) {
        try line(jsonText(value))
    }

    /// JSON whose strings cannot steer a terminal: what `Visible` shows as `\u{…}` is a JSON escape here.
    package static func jsonText(_ value: JSONValue) -> String {
        let bytes = CanonicalJSON.encode(value)
        if bytes.allSatisfy({ (0x20...0x7e).contains($0) }) { return String(decoding: bytes, as: UTF8.self) }
        var text = ""
        for scalar in String(decoding: bytes, as: UTF8.self).unicodeScalars {
            if Visible.isPlain(scalar) {
                text.unicodeScalars.append(scalar)
            } else {
                for unit in String(scalar).utf16 {
                    let hex = String(unit, radix: 16)
                    text += "\\u" + String(repeating: "0", count: 4 - hex.utf8.count) + hex
                }
            }
        }
        return text
    }

    package static func write(_ bytes: [UInt8]) throws(BundleError) {
        do {
            try FileHandle.standardOutput.write(bytes)
        } catch {
            throw BundleError(.inputOutput, "cannot be written: \(error.text)", file: "standard output")
        }
    }

    /// Tells a person. When nobody can be told any more, there is nothing to do about it.
    package static func tell(_ text: String, end: String = "\n") {
        try? FileHandle.standardError.write(Array((text + end).utf8))
    }

    package static var isTerminal: Bool { FileHandle.standardOutput.isTerminal }

    /// How wide the terminal is; nil when standard output is none.
    package static var columns: Int? { isTerminal ? FileHandle.standardOutput.columns ?? 80 : nil }

    /// Ends the process at once. Nothing of ours waits in a buffer, and what libraries do at a regular exit would run beside
    /// threads that are still ending (OpenSSL frees what those free too).
    package static func exit(_ status: Int32) -> Never { Glibc._exit(status) }
}

/// Makes text from outside safe to show: a bundle must not be able to steer a terminal.
package enum Visible {
    /// Control characters, bidirectional controls and the like become `\u{…}`.
    package static func text(_ text: String) -> String {
        if text.utf8.allSatisfy({ (0x20...0x7e).contains($0) }) { return text }
        var shown = ""
        for scalar in text.unicodeScalars {
            if isPlain(scalar) {
                shown.unicodeScalars.append(scalar)
            } else {
                shown += "\\u{\(String(scalar.value, radix: 16))}"
            }
        }
        return shown
    }

    static func isPlain(_ scalar: Unicode.Scalar) -> Bool {
        if (0x20...0x7e).contains(scalar.value) { return true }
        return switch scalar.properties.generalCategory {
        case .control, .format, .surrogate, .privateUse, .unassigned, .lineSeparator, .paragraphSeparator: false
        default: true
        }
    }
}
