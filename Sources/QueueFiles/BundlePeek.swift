package import CaptureBundle
import CaptureNative
import QueueModel
package import SystemPackage

/// Reads the beginning of a file to recognise a bundle.
package enum BundlePeek {
    /// The identity that the headers claim; nil if the file does not look like a bundle. Nothing is verified.
    package static func identity(of path: FilePath) -> Digest? {
        guard let handle = try? FileHandle.readingPlainFile(path) else { return nil }
        guard let head = try? UnverifiedHead(BundleSource(handle: handle, name: path.string)) else { return nil }
        return try? .identity(manifestSHA256: head.manifestSHA256, present: head.present)
    }
}
