package import CaptureBundle
import CaptureNative
import QueueModel
package import SystemPackage

/// Reads bundles and sidecars of the spool without their rows.
package enum StoredBundle {
    /// - Returns: nil if the bytes do not match the hash, or are not a sound bundle.
    package static func facts(_ sha256: Digest, _ spool: Spool) throws -> CaptureFacts? {
        guard let handle = try spool.open(sha256) else { return nil }
        let path = spool.folder.bundlePath(sha256)
        guard try SpoolReader.hash(handle, path) == sha256 else { return nil }
        try onFile(path) { try handle.seekToStart() }
        let report = try Verifier(trust: TrustFile()).verify(BundleSource(handle: handle, name: path.string))
        return try? CaptureFacts(report, sha256, path.string)
    }

    package static func sidecar(_ sha256: Digest, _ folder: QueueFolder) -> Sidecar? {
        sidecar(sha256, at: folder.sidecarPath(sha256))
    }

    /// The sidecar beside a bundle of any folder; nil if it is of another bundle.
    package static func sidecar(_ facts: CaptureFacts, beside bundle: FilePath) -> Sidecar? {
        let found = sidecar(facts.sha256, at: sidecarPath(beside: bundle))
        return found?.facts.identity == facts.identity ? found : nil
    }

    /// Reads what is beside a bundle before the bundle itself is read.
    package static func unverifiedSidecar(beside bundle: FilePath) -> Sidecar? {
        sidecar(nil, at: sidecarPath(beside: bundle))
    }

    private static func sidecarPath(beside bundle: FilePath) -> FilePath {
        var path = bundle
        path.extension = "json"
        return path
    }

    private static func sidecar(_ sha256: Digest?, at path: FilePath) -> Sidecar? {
        guard let file = try? FileHandle.readingPlainFile(path, followsLinks: false),
            let bytes = try? file.readAll(limit: Sidecar.sizeLimit), let sidecar = Sidecar(decoding: bytes),
            sha256 == nil || sidecar.facts.sha256 == sha256
        else { return nil }
        return sidecar
    }
}
