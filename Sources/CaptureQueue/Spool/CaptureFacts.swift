import CaptureBundle
import QueueModel

/// The facts about a bundle that the queue stores.
struct CaptureFacts: Hashable, Sendable {
    let bundleID: String
    let identity: Digest
    let sha256: Digest
    let manifestSHA256: Digest
    let byteCount: Int
    let capturedAt: CaptureTime
    let device: Digest
    let verdict: Verdict
    /// The hash of the photo, or of zero bytes if the bundle has no photo; nil if only the sidecar is left.
    let photo: Digest?
}

extension CaptureFacts {
    /// - Throws: the verdict if the bundle is not sound.
    init(_ report: VerificationReport, _ sha256: Digest, _ name: String) throws {
        try report.requireSound(name)
        guard let manifest = report.manifest, let manifestSHA256 = report.manifestSHA256 else {
            throw QueueError(.corruptRecord, "a sound bundle without a manifest", of: name)
        }
        let withheld = Set(report.withheld)
        bundleID = manifest.id
        identity = try .identity(
            manifestSHA256: manifestSHA256, present: manifest.entries.map(\.path).filter { !withheld.contains($0) })
        self.sha256 = sha256
        self.manifestSHA256 = manifestSHA256
        byteCount = report.bytes
        capturedAt = manifest.capturedAt
        device = manifest.device.keyID
        verdict = report.verdict
        photo = try manifest.entry(.photo)?.sha256 ?? .of([])
    }
}
