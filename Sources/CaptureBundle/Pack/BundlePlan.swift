import CaptureNative

/// All of a bundle but its signature.
struct BundlePlan {
    let manifest: Manifest
    let manifestBytes: [UInt8]
    /// In the manifest's order.
    let contents: [PayloadContent]

    /// - Parameter secret: salts the position.
    init(_ capture: RawCapture, device: DevicePoint, secret: [UInt8]) throws(BundleError) {
        var parts: [(entry: ManifestEntry, content: PayloadContent)] = []
        func add(_ path: EntryPath, _ bytes: [UInt8], isWithholdable: Bool = false) throws(BundleError) {
            let entry = ManifestEntry(
                path: path, size: bytes.count, sha256: try Digest.of(bytes), isWithholdable: isWithholdable)
            parts.append((entry, .bytes(bytes)))
        }
        let photo = capture.photo
        parts.append((ManifestEntry(path: .photo, size: photo.size, sha256: photo.sha256), photo.content))
        try add(.metadata, capture.metadata)
        if let position = capture.position {
            do {
                let bytes = try position.encode(secret: secret, photo: photo.sha256, capturedAt: capture.capturedAt)
                try add(.location, bytes, isWithholdable: true)
            } catch {
                guard error.code == .locationValue else { throw error }
                let file = FilePath.join(capture.folder, "metadata.json")
                throw BundleError(.rawCapture, "location: \(error.message)", file: file)
            }
        }
        if let depth = capture.depth { try add(.depth, try DepthMapCodec.compress(depth.floats)) }
        parts.sort { $0.entry.path < $1.entry.path }
        contents = parts.map(\.content)
        manifest = try Manifest(
            capturedAt: capture.capturedAt, device: device, entries: parts.map(\.entry),
            depth: capture.depth.map { DepthDescription(size: $0.size, sha256: $0.sha256, source: .plain) })
        manifestBytes = manifest.encode()
    }

    /// Writes the bundle; the sink is not synced.
    func write(assertion: [UInt8], to sink: FileHandle, name: String) throws(BundleError) {
        let writer = try BundleWriter(sink: sink, name: name)
        try writer.write(manifest: manifestBytes, assertion: assertion)
        for (entry, content) in zip(manifest.entries, contents) { try writer.write(entry, content) }
        try writer.finish()
    }

    /// Length of the bundle in bytes (Spec/capture-bundle.md section 2).
    func byteCount(assertion: Int) -> Int {
        let sizes = [BundleMagic.content.count, manifestBytes.count, assertion] + manifest.entries.map(\.size)
        return sizes.reduce(2 * UstarHeader.blockLength) { total, size in
            total + UstarHeader.blockLength + (size + UstarHeader.blockLength - 1) / UstarHeader.blockLength
                * UstarHeader.blockLength
        }
    }
}
