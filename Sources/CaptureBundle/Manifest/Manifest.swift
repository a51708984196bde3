/// What a bundle says of itself, and all that is signed (Spec/capture-bundle.md section 4).
public struct Manifest: Hashable, Sendable {
    public let id: String
    /// UTC, milliseconds.
    public let capturedAt: CaptureTime
    public let device: DevicePoint
    /// In bytewise order of their paths.
    public let entries: [ManifestEntry]
    public let depth: DepthDescription?
    public let chain: ChainLink?

    /// The place of a capture among those of its device.
    public struct ChainLink: Hashable, Sendable {
        /// From 1.
        public let seq: Int
        /// SHA-256 of the manifest before this one; nil at 1.
        public let prev: Digest?
    }

    static let version = 1

    /// Lists the content and computes its id.
    init(
        capturedAt: CaptureTime, device: DevicePoint, entries: [ManifestEntry], depth: DepthDescription?,
        chain: ChainLink? = nil
    ) throws(BundleError) {
        self.capturedAt = capturedAt
        self.device = device
        self.entries = entries.sorted { $0.path < $1.path }
        self.depth = depth
        self.chain = chain
        id = try Self.id(device: device, capturedAt: capturedAt, entries: self.entries, depth: depth)
    }

    public func entry(_ path: EntryPath) -> ManifestEntry? { entries.first { $0.path == path } }

    /// The UUID of version 8 that names the content (section 4.6).
    private static func id(
        device: DevicePoint, capturedAt: CaptureTime, entries: [ManifestEntry], depth: DepthDescription?
    ) throws(BundleError) -> String {
        var lines = ["capture-bundle/1", device.keyID.description, capturedAt.description]
        for entry in entries {
            // The raw floats' hash, so that another compressor changes no id.
            let hash = entry.path == .depth ? depth?.sha256 ?? entry.sha256 : entry.sha256
            lines.append("\(hash)  \(entry.path)")
        }
        return UUIDText.of(try Digest.of(Array(lines.map { $0 + "\n" }.joined().utf8)).bytes, version: 8)
    }
}

/// A device's public key as a bundle names it: the 65-byte uncompressed point. It need not be on the curve yet.
public struct DevicePoint: Hashable, Sendable {
    public let bytes: [UInt8]
    /// SHA-256 of the point: the device's name everywhere.
    public let keyID: Digest

    package init(bytes: [UInt8]) throws(BundleError) {
        self.bytes = bytes
        keyID = try Digest.of(bytes)
    }

    public var base64: String { Base64.encode(bytes) }
}
