package import CaptureBundle
import CaptureNative
import SystemPackage

/// Reads text that the user provides.
package enum TextFile {
    /// - Parameter path: A file; `-` means standard input.
    /// - Throws: `input.unreadable` if the file is missing, too long or not UTF-8.
    package static func read(_ path: String, limit: Int) throws(BundleError) -> String {
        let isTooLong = BundleError(.inputUnreadable, "is longer than \(limit) bytes", file: path)
        let bytes = try native({ $0.isTooLarge ? isTooLong : .reading(path, $0) }) {
            let handle: FileHandle = path == "-" ? .standardInput : try .reading(FilePath(file: path))
            return try handle.readAll(limit: limit)
        }
        guard let text = String(validating: bytes, as: UTF8.self) else {
            throw BundleError(.inputUnreadable, "is not UTF-8", file: path)
        }
        return text
    }
}

/// Reads lines of text from standard input.
package enum LineList {
    private static let sizeLimit = 1 << 28

    /// The lines, without empty ones.
    ///
    /// - Throws: `input.unreadable` if a line is not UTF-8, `names.none` if there are no lines, and `io.failed`.
    package static func read() throws(BundleError) -> [String] {
        let bytes = try native({ BundleError(.inputOutput, "cannot be read: \($0.text)", file: "standard input") }) {
            try FileHandle.standardInput.readAll(limit: sizeLimit)
        }
        guard let text = String(validating: bytes, as: UTF8.self) else {
            throw BundleError(.inputUnreadable, "a line is not UTF-8", file: "standard input")
        }
        let lines = text.pieces(by: "\n").map { $0.rest(before: "\r") ?? $0 }.filter { !$0.isEmpty }
        if lines.isEmpty {
            throw BundleError(.noNames, "no ids were read, expected one on each line", file: "standard input")
        }
        return lines
    }
}
