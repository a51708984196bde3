import CaptureBundle
import QueueModel

/// What a bundle says of itself, as far as the queue keeps it.
struct CaptureFacts: Hashable, Sendable {
    let bundleID: String
    let identity: Digest
    let sha256: Digest
    let manifestSHA256: Digest
    let byteCount: Int
    let capturedAt: CaptureTime
    let device: Digest
    let verdict: Verdict
    /// Of the photo, or of nothing where the bundle has none; nil where only the sidecar is left.
    let photo: Digest?
}

extension CaptureFacts {
    /// - Throws: the verdict on a bundle that is not sound.
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
