package import CaptureBundle
import CaptureNative
import Glibc

/// Writes data to standard output and messages for people to standard error.
package enum Output {
    /// Writes a line of data. The caller must pass text from a bundle through `Visible.text` first.
    ///
    /// - Parameter outputs: The outputs of the command. If one of them is standard output (`-`), the line goes to standard
    ///   error.
    /// - Throws: `io.failed`, so that a full disk does not look like success.
    package static func line(_ text: String, beside outputs: [String?] = []) throws(BundleError) {
        if outputs.contains("-") { message(text) } else { try write(Array((text + "\n").utf8)) }
    }

    package static func json(_ value: JSONValue, beside outputs: [String?] = []) throws(BundleError) {
        try line(jsonText(value), beside: outputs)
    }

    /// JSON whose strings cannot control a terminal: characters that `Visible` shows as `\u{…}` become JSON escapes.
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
        try native({ BundleError(.inputOutput, "cannot be written: \($0.text)", file: "standard output") }) {
            try FileHandle.standardOutput.write(bytes)
        }
    }

    /// Prints a message on standard error. A failure to print it is ignored, because it cannot be reported either.
    package static func message(_ text: String, end: String = "\n") {
        try? FileHandle.standardError.write(Array((text + end).utf8))
    }

    package static var isTerminal: Bool { FileHandle.standardOutput.isTerminal }

    /// The width of the terminal in columns, or `COLUMNS` if it is set; nil if standard output is not a terminal.
    package static var columns: Int? {
        guard isTerminal else { return nil }
        let wanted = ProcessEnvironment.value("COLUMNS").flatMap { Int($0) } ?? 0
        return wanted > 0 ? wanted : FileHandle.standardOutput.columns ?? 80
    }

    /// Ends the process at once. Our code buffers nothing here, and exit handlers of libraries would run at the same
    /// time as threads that are still ending: OpenSSL frees memory that those threads free too.
    package static func exit(_ status: Int32) -> Never { Glibc._exit(status) }
}

/// Collects lines and writes many of them at a time: to standard output, or to a file that appears either complete or not
/// at all.
package final class TextOutput {
    private let target: OutputTarget?
    private var waiting: [UInt8] = []

    /// - Parameter place: nil for standard output, whose lines need not wait for the last one.
    package init(_ place: OutputPlace? = nil) throws(BundleError) {
        target = if let place { try OutputTarget(examining: place) } else { nil }
    }

    package func line(_ text: String) throws(BundleError) {
        waiting += text.utf8
        waiting.append(UInt8(ascii: "\n"))
        if waiting.count >= 1 << 15 { try flush() }
    }

    /// Writes the rest and gives the file its name; call it at the end.
    package func finish() throws(BundleError) {
        if !waiting.isEmpty { try flush() }
        try target?.commit()
    }

    private func flush() throws(BundleError) {
        let bytes = waiting
        waiting.removeAll(keepingCapacity: true)
        if let target { try target.write(bytes) } else { try Output.write(bytes) }
    }
}

/// Values of JSON reports. A fact that is nil is left out.
extension JSONValue {
    package static func text(_ value: (some CustomStringConvertible)?) -> JSONValue? {
        value.map { .string($0.description) }
    }

    package static func count(_ value: (some BinaryInteger)?) -> JSONValue? { value.map { .integer(Int($0)) } }

    package static func texts(_ values: [some CustomStringConvertible]) -> JSONValue {
        .array(values.map { .string($0.description) })
    }
}
