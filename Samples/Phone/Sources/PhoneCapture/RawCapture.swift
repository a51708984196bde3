import Foundation

/// A capture as the camera gives it.
public struct RawCapture: Sendable {
    let photo: Data
    let capturedAt: CaptureTime
    let deviceModel: String
    let depth: DepthMap?
    let location: Location?
    private let metadata: Data

    /// - Parameters:
    ///   - photo: The JPEG, byte for byte as the camera wrote it.
    ///   - facts: An object with more members of metadata.json. They stay in a bundle whose position is withheld.
    public init(
        photo: Data, capturedAt: CaptureTime, deviceModel: String, depth: DepthMap?, location: Location?,
        facts: JSONValue = [:]
    ) throws {
        guard photo.starts(with: [0xff, 0xd8]) else { throw CaptureError("the photo is not a JPEG") }
        let isBlank = deviceModel.utf8.allSatisfy { $0 == 0x20 || (0x09...0x0d).contains($0) }
        if isBlank || deviceModel.utf8.count > 256 {
            throw CaptureError("the device model is blank or above 256 bytes")
        }
        guard case .object(var members) = facts else { throw CaptureError("the facts are not a JSON object") }
        guard !members.contains(where: { ["depth_map_dimensions", "location"].contains($0.name) }) else {
            throw CaptureError("the facts have depth_map_dimensions or location, which are parameters of their own")
        }
        members += [("captured_at", .string(capturedAt.text)), ("device_model", .string(deviceModel))]
        members += depth.map { [("depth_map_dimensions", $0.dimensions)] } ?? []
        metadata = try JSONValue.object(members).encoded()
        guard metadata.count <= 1 << 20 else { throw CaptureError("metadata.json has more than 1 MiB") }
        (self.photo, self.capturedAt, self.deviceModel, self.depth) = (photo, capturedAt, deviceModel, depth)
        self.location = location
    }

    /// Makes the bundle, with one assertion of the signer.
    ///
    /// - Parameters:
    ///   - secret: 32 random bytes that are kept beside the key, so that nobody can guess a position from its hash.
    ///   - deflate: Makes a raw deflate stream of the depth map.
    public func signed(
        by signer: any ManifestSigner, secret: Data, deflate: @Sendable (Data) throws -> Data = DepthMap.stored
    ) async throws -> SignedBundle {
        guard secret.count == 32 else { throw CaptureError("the secret has \(secret.count) bytes, expected 32") }
        var entries = [try BundleEntry(.metadata, metadata), try BundleEntry(.photo, photo)]
        if let location {
            let bytes = try location.encoded(secret: secret, photo: entries[1].sha256, utc: capturedAt.utc)
            entries.insert(try BundleEntry(.location, bytes), at: 0)
        }
        if let depth { entries.insert(try BundleEntry(.depth, depth.gzip(deflate)), at: 0) }
        let key = signer.publicKey
        let manifest = try Manifest(capturedAt: capturedAt, publicKey: key, entries: entries, depth: depth)
        let hash = Assertion.clientDataHash(manifest.bytes)
        let bytes = try await signer.assertion(clientDataHash: hash)
        guard let assertion = Assertion(bytes) else {
            throw CaptureError("the assertion is not like those of App Attest")
        }
        guard assertion.isValid(hash, publicKey: key) else {
            throw CaptureError("the assertion is not a signature over this manifest by the signer's public key")
        }
        return SignedBundle(capture: self, manifest: manifest, assertion: bytes, entries: entries)
    }
}

/// What cannot be in a bundle or an upload, and what was expected.
public struct CaptureError: LocalizedError {
    public let errorDescription: String?

    init(_ message: String) { errorDescription = message }
}
