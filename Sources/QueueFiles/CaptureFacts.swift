package import CaptureBundle
import CaptureNative
import QueueModel
package import SystemPackage

/// The facts about a bundle that the queue stores.
package struct CaptureFacts: Hashable, Sendable {
    package let bundleID: String
    package let identity: Digest
    package let sha256: Digest
    package let manifestSHA256: Digest
    package let byteCount: Int
    package let capturedAt: CaptureTime
    package let device: Digest
    package let verdict: Verdict
    /// The hash of the photo, or of zero bytes if the bundle has no photo; nil if only the sidecar is left.
    package let photo: Digest?

    package init(
        bundleID: String, identity: Digest, sha256: Digest, manifestSHA256: Digest, byteCount: Int,
        capturedAt: CaptureTime, device: Digest, verdict: Verdict, photo: Digest?
    ) {
        self.bundleID = bundleID
        self.identity = identity
        self.sha256 = sha256
        self.manifestSHA256 = manifestSHA256
        self.byteCount = byteCount
        self.capturedAt = capturedAt
        self.device = device
        self.verdict = verdict
        self.photo = photo
    }
}

extension CaptureFacts {
    /// - Throws: the verdict if the bundle is not sound.
    package init(_ report: VerificationReport, sha256: Digest, name: String) throws {
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

extension Digest {
    /// Hashes the manifest's hash and the paths of the entries that are present (Spec/queue.md section 3).
    package static func identity(manifestSHA256: Digest, present: [EntryPath]) throws(BundleError) -> Digest {
        try .of(manifestSHA256.bytes + present.flatMap { Array("\($0)\n".utf8) })
    }
}

/// Reads the beginning of a file to recognise a bundle.
package enum BundlePeek {
    /// The identity that the headers claim; nil if the file does not look like a bundle. Nothing is verified.
    package static func identity(of path: FilePath) -> Digest? {
        guard let handle = try? FileHandle.readingPlainFile(path) else { return nil }
        guard let head = try? UnverifiedHead(BundleSource(handle: handle, name: path.string)) else { return nil }
        return try? .identity(manifestSHA256: head.manifestSHA256, present: head.present)
    }
}
