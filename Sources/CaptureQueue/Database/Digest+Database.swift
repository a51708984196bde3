import CaptureBundle
import Foundation
import QueueModel

extension Digest {
    /// As the database keeps it: 32 bytes.
    var data: Data { Data(bytes) }

    /// SHA-256 over the manifest's hash and the paths of the entries that are there (Spec/queue.md section 3).
    static func identity(manifestSHA256: Digest, present: [EntryPath]) throws(BundleError) -> Digest {
        try .of(manifestSHA256.bytes + present.flatMap { Array("\($0)\n".utf8) })
    }
}
