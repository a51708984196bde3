/// Checks `metadata.json`: rules E1 to E5.
struct MetadataCheck {
    let manifest: Manifest

    func run(_ bytes: [UInt8], _ findings: inout EntryContentCheck.Findings) {
        do {
            let root = try CaptureMetadata.root(bytes)
            findings.faults += [location(root)].compactMap(\.self)
            findings.warnings += CaptureMetadata.namesThatLookLikeAPosition(in: root).map {
                BundleError(.metadataPosition, "the member \($0) looks like a position")
            }
            let metadata = try CaptureMetadata(root)
            findings.metadata = metadata
            findings.faults += [time(metadata), dimensions(metadata)].compactMap(\.self)
        } catch {
            findings.faults.append(error)
        }
    }

    private func location(_ root: JSONValue) -> BundleError? {
        guard root["location"] != nil else { return nil }
        return BundleError(.metadataLocation, "has a top-level member location; a position belongs in location.json")
    }

    private func time(_ metadata: CaptureMetadata) -> BundleError? {
        guard metadata.capturedAt != manifest.capturedAt else { return nil }
        return BundleError(
            .metadataCapturedAt,
            "captured_at is \(metadata.capturedAt) in UTC, the manifest says \(manifest.capturedAt)")
    }

    private func dimensions(_ metadata: CaptureMetadata) -> BundleError? {
        let said = metadata.depthSize.map(\.description)
        let signed = manifest.depth?.size.description
        guard said != signed else { return nil }
        return BundleError(
            .metadataDimensions,
            "depth_map_dimensions \(said.map { "is \($0)" } ?? "is missing"), the manifest has \(signed ?? "no depth")")
    }
}

extension CaptureMetadata {
    /// Parses a bundle's `metadata.json`: rule E1.
    package static func root(_ bytes: [UInt8]) throws(BundleError) -> JSONValue {
        try CanonicalJSON.decode(bytes, or: .metadataCanonical)
    }
}
