/// The manifest of a bundle: it describes all other entries, and the signature covers all of it
/// (Spec/capture-bundle.md section 4).
public struct Manifest: Hashable, Sendable {
    public let id: String
    /// The time of the capture in UTC, with milliseconds.
    public let capturedAt: CaptureTime
    public let device: DevicePoint
    /// The payload entries in bytewise order of their paths.
    public let entries: [ManifestEntry]
    public let depth: DepthDescription?
    public let chain: ChainLink?

    /// The place of a capture in the sequence of its device.
    public struct ChainLink: Hashable, Sendable {
        /// The number of the capture in the sequence, beginning with 1.
        public let seq: Int
        /// The SHA-256 of the previous manifest; nil for number 1.
        public let prev: Digest?

        package init(seq: Int, prev: Digest?) { (self.seq, self.prev) = (seq, prev) }
    }

    static let version = 1

    /// Creates the manifest of this content and computes its id.
    package init(
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

    /// The id of the content: a UUID of version 8 (section 4.6).
    private static func id(
        device: DevicePoint, capturedAt: CaptureTime, entries: [ManifestEntry], depth: DepthDescription?
    ) throws(BundleError) -> String {
        var lines = ["capture-bundle/1", device.keyID.description, capturedAt.description]
        for entry in entries {
            // The id uses the hash of the raw floats, so that another compressor does not change it.
            let hash = entry.path == .depth ? depth?.sha256 ?? entry.sha256 : entry.sha256
            lines.append("\(hash)  \(entry.path)")
        }
        return UUIDText.of(try Digest.of(Array(lines.map { $0 + "\n" }.joined().utf8)).bytes, version: 8)
    }
}

/// A device's public key as a bundle names it: the 65-byte uncompressed point. It is not yet known to be on the curve.
public struct DevicePoint: Hashable, Sendable {
    public let bytes: [UInt8]
    /// The SHA-256 of the point, which identifies the device everywhere.
    public let keyID: Digest

    package init(bytes: [UInt8]) throws(BundleError) {
        self.bytes = bytes
        keyID = try Digest.of(bytes)
    }

    public var base64: String { Base64.encode(bytes) }
}
