package import CaptureBundle
import CaptureNative
import SystemPackage

/// Reads text that the user provides.
package enum TextFile {
    /// - Parameter path: A file; `-` means standard input.
    /// - Throws: `input.unreadable` if the file is missing, too long or not UTF-8.
    package static func read(_ path: String, limit: Int) throws(BundleError) -> String {
        let bytes: [UInt8]
        do {
            let handle: FileHandle = path == "-" ? .standardInput : try .reading(FilePath(file: path))
            bytes = try handle.readAll(limit: limit)
        } catch {
            if error.isTooLarge {
                throw BundleError(.inputUnreadable, "is longer than \(limit) bytes", file: path)
            }
            throw .reading(path, error)
        }
        guard let text = String(validating: bytes, as: UTF8.self) else {
            throw BundleError(.inputUnreadable, "is not UTF-8", file: path)
        }
        return text
    }
}
