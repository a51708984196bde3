public import CaptureBundle
public import QueueModel
import SystemPackage

extension Destination {
    /// The files with secrets of this destination that other users can read or write, each with what to do.
    ///
    /// The user wrote them, so they are warned of; the device key is refused when it is loaded.
    public var openSecrets: [BundleError] {
        var paths = ["token-file", "passphrase-file", "cert-key"].compactMap { settings[$0].map { FilePath($0) } }
        if kind == Kind.s3.rawValue, let path = S3Credentials.file(self) { paths.append(path) }
        return paths.compactMap { FileAccess.exposure(ofSecret: $0) }
    }
}
