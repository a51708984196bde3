import CaptureTestSupport

@testable import CaptureBundle

/// The manifest. It has one form: what can be read is what would be written.
enum ManifestTarget: FuzzTarget {
    static let name = "manifest"

    static func seeds(_ samples: Samples) -> [[UInt8]] { samples.entries("manifest.json") }

    static func judge(_ bytes: [UInt8]) {
        guard let manifest = Cost.bounded(bytes.count, { try? Manifest.decode(bytes) }) else { return }
        expect(manifest.encode() == bytes, "the manifest encodes to other bytes")
    }
}

/// metadata.json of a bundle.
enum MetadataTarget: FuzzTarget {
    static let name = "metadata"

    static func seeds(_ samples: Samples) -> [[UInt8]] { samples.entries("metadata.json") }

    static func judge(_ bytes: [UInt8]) {
        let root = Cost.bounded(bytes.count) { () -> JSONValue? in
            guard let root = try? CaptureMetadata.root(bytes) else { return nil }
            _ = CaptureMetadata.namesThatLookLikeAPosition(in: root)
            _ = try? CaptureMetadata(root)
            return root
        }
        guard let root else { return }
        expect(CanonicalJSON.encode(root) == bytes, "the metadata encode to other bytes")
    }
}

/// location.json of a bundle.
enum LocationTarget: FuzzTarget {
    static let name = "location"

    static func seeds(_ samples: Samples) -> [[UInt8]] { samples.entries("location.json") }

    static func judge(_ bytes: [UInt8]) {
        guard let position = Cost.bounded(bytes.count, { try? GeoPosition.decode(bytes) }) else { return }
        expect(CanonicalJSON.encode(position.root) == bytes, "the position encodes to other bytes")
        expect(Double(position.latitude) != nil && Double(position.longitude) != nil, "the position has no numbers")
    }
}

/// JSON as people and apps write it, which pack reads.
enum JSONTarget: FuzzTarget {
    static let name = "json"

    static func seeds(_ samples: Samples) -> [[UInt8]] {
        samples.entries("metadata.json") + [Array(RawFolder.metadata.utf8)]
    }

    static func judge(_ bytes: [UInt8]) {
        let parsed = Cost.bounded(bytes.count) {
            try? JSONParser.parse(bytes, nesting: BundleLimits.metadataNesting)
        }
        guard let parsed else { return }
        let canonical = CanonicalJSON.encode(parsed)
        let again = try? CanonicalJSON.decode(canonical, or: .metadataCanonical)
        expect(again != nil, "the canonical form is not canonical")
    }
}
