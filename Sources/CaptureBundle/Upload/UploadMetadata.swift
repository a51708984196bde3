/// The first part of a body, for servers that do not know bundles (Spec/upload.md section 1.2; section 6.2 for profile
/// `realitycam`).
enum UploadMetadata {
    static let byteLimit = 16384

    /// Encodes the metadata as JSON.
    ///
    /// - Parameters:
    ///   - position: nil if the bundle has no location.json.
    ///   - photoHash: The hash of the photo in the form that the server expects; nil for base64.
    static func encode(
        manifest: Manifest, deviceModel: String, position: GeoPosition?, assertion: [UInt8]?, photoHash: String? = nil
    ) -> [UInt8] {
        CanonicalJSON.encode(
            .members([
                "assertion": assertion.map { .string(Base64.encode($0)) },
                "captured_at": .string(manifest.capturedAt.description),
                "depth_map_dimensions": manifest.depth.map {
                    .members(["height": .integer($0.size.height), "width": .integer($0.size.width)])
                },
                "device_model": .string(deviceModel),
                "location": position.map(location),
                "photo_hash": (photoHash ?? manifest.entry(.photo).map { Base64.encode($0.sha256.bytes) }).map {
                    .string($0)
                },
            ]))
    }

    private static func location(_ position: GeoPosition) -> JSONValue {
        let names = ["accuracy", "altitude", "latitude", "longitude"]
        return .object(
            names.compactMap { name in
                guard let value = position.root[name], value.numberText != nil else { return nil }
                return JSONValue.Member(name, value)
            })
    }
}
