import CaptureBundle
import CaptureNative
import QueueModel
import SystemPackage

/// Looks at the beginning of a file, to tell whether it is a bundle, and which.
enum BundlePeek {
    /// The identity that its headers claim; nil for anything that does not look like a bundle. Nothing is verified.
    static func identity(of path: FilePath) -> Digest? {
        guard let handle = try? FileHandle.readingPlainFile(path) else { return nil }
        guard let head = try? UnverifiedHead(BundleSource(handle: handle, name: path.string)) else { return nil }
        return try? .identity(manifestSHA256: head.manifestSHA256, present: head.present)
    }
}
