package import CaptureBundle
import Foundation

extension Digest {
    /// The 32 bytes that the database stores.
    var data: Data { Data(bytes) }

    /// Hashes the manifest's hash and the paths of the entries that are present (Spec/queue.md section 3).
    package static func identity(manifestSHA256: Digest, present: [EntryPath]) throws(BundleError) -> Digest {
        try .of(manifestSHA256.bytes + present.flatMap { Array("\($0)\n".utf8) })
    }
}
