import CaptureNative

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

/// Builds the bytes that are signed (Spec/capture-bundle.md section 9).
package enum SigningInput {
    /// The DSSE payload type of a version 1 manifest.
    static let manifestType = "application/vnd.capture-bundle.manifest+json;version=1"

    /// The DSSE pre-authentication encoding of the manifest's bytes.
    static func clientData(manifest: [UInt8]) -> [UInt8] {
        Array("DSSEv1 \(manifestType.utf8.count) \(manifestType) \(manifest.count) ".utf8) + manifest
    }

    /// SHA-256(authenticatorData ‖ SHA-256(clientData)). This is the message of the ECDSA signature, which hashes it
    /// again.
    package static func nonce(authenticatorData: [UInt8], clientData: [UInt8]) throws(BundleError) -> [UInt8] {
        try Digest.of(authenticatorData + Digest.of(clientData).bytes).bytes
    }
}

extension DevicePoint {
    /// Whether the bytes are the uncompressed form of a point on P-256.
    static func isOnCurve(_ bytes: [UInt8]) throws(BundleError) -> Bool {
        try native { try P256PublicKey.of(point: bytes) != nil }
    }

    /// The public key as SubjectPublicKeyInfo PEM.
    ///
    /// - Throws: `key.damaged` if the point is not on the curve.
    public func pem() throws(BundleError) -> [UInt8] {
        let key = try native { try P256PublicKey(point: bytes) }
        guard let key else { throw BundleError(.keyDamaged, "the point is not on P-256") }
        return try native { try key.pem() }
    }
}

extension DevicePoint {
    /// The key as a JSON Web Key (RFC 7517, RFC 7518 section 6.2). Its `kid` is the key id.
    package var jwk: JSONValue {
        .members([
            "alg": .string("ES256"), "crv": .string("P-256"), "kid": .string(keyID.description), "kty": .string("EC"),
            "use": .string("sig"), "x": .string(Base64.encodeURL(Array(bytes[1..<33]))),
            "y": .string(Base64.encodeURL(Array(bytes[33..<65]))),
        ])
    }
}

/// Decodes a key from a JSON Web Key, as `jwk` makes it. A point that is not on the curve is refused.
extension DevicePoint: Decodable {
    private enum Member: String, CodingKey { case kty, crv, x, y }

    public init(from decoder: any Decoder) throws {
        let members = try decoder.container(keyedBy: Member.self)
        let coordinates = try [Member.x, .y].map { Base64.decodeURL(try members.decode(String.self, forKey: $0)) ?? [] }
        let bytes = [0x04] + coordinates.joined()
        guard try members.decode(String.self, forKey: .kty) == "EC",
            try members.decode(String.self, forKey: .crv) == "P-256", coordinates.allSatisfy({ $0.count == 32 }),
            try Self.isOnCurve(bytes)
        else { throw DecodingError.dataCorruptedError(forKey: .x, in: members, debugDescription: "not a P-256 key") }
        try self.init(bytes: bytes)
    }
}
