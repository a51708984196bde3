package import CaptureBundle
import CaptureNative
import SystemPackage

/// Text that the user hands in.
package enum TextFile {
    /// - Parameter path: a file; `-` is the standard input.
    /// - Throws: `input.unreadable` for what is missing, too long or no UTF-8.
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
