/// One payload entry as the manifest lists it (Spec/capture-bundle.md section 4.3).
public struct ManifestEntry: Hashable, Sendable {
    public let path: EntryPath
    public let mediaType: String
    /// Number of bytes.
    public let size: Int
    public let sha256: Digest
    /// Whether a bundle without this entry is still whole.
    public let isWithholdable: Bool

    public var role: Role { path.role }

    init(path: EntryPath, mediaType: String? = nil, size: Int, sha256: Digest, isWithholdable: Bool = false) {
        self.path = path
        self.mediaType = mediaType ?? path.role.mediaType ?? "application/octet-stream"
        self.size = size
        self.sha256 = sha256
        self.isWithholdable = isWithholdable
    }

    /// What the entry's size may be at most.
    static func sizeLimit(of path: EntryPath) -> Int {
        path == .metadata ? BundleLimits.metadataBytes : BundleLimits.entryBytes
    }
}
