/// One payload entry in the manifest's list (Spec/capture-bundle.md section 4.3).
public struct ManifestEntry: Hashable, Sendable {
    public let path: EntryPath
    public let mediaType: String
    public let size: Int
    public let sha256: Digest
    /// Whether the entry may be left out of a bundle that is still complete.
    public package(set) var isWithholdable: Bool

    public var role: Role { path.role }

    package init(path: EntryPath, mediaType: String? = nil, size: Int, sha256: Digest, isWithholdable: Bool = false) {
        self.path = path
        self.mediaType = mediaType ?? path.role.mediaType ?? "application/octet-stream"
        self.size = size
        self.sha256 = sha256
        self.isWithholdable = isWithholdable
    }
}
