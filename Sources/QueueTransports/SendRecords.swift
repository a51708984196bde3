package import CaptureBundle
import CurlClient
package import QueueModel

/// What a transport asks the queue about one delivery, and what it lets the queue store.
package protocol SendRecords: Sendable {
    /// Whether a remote id may belong to another capture with the same photo.
    func isAnother(_ remoteID: String, photo: Digest) -> Bool

    /// Whether the destination had these bytes before, so that others under their name are damaged and may be replaced.
    func hadLanded() -> Bool

    /// Records the place of a delivery before its bytes are sent there (Spec/upload.md section 4.3).
    ///
    /// - Parameter sha256: the hash of the bytes.
    func take(_ place: Digest, _ sha256: Digest) -> PlaceTurn

    /// Stores a finding for later tries. If that fails, a later try finds it again.
    func keep(_ finding: SendFinding)
}

/// What later tries need not find out again.
package enum SendFinding: Sendable {
    case body(BodyHash)
    case digests(DigestTraits)
    /// The server accepted the bytes at the place, but did not prove that it has them, or the folder of the place seems to
    /// be missing: the status, or a constant of `PlaceTurn`.
    case accepted(status: Int)
}
