/// The first part of a body, for servers that do not know bundles (Spec/upload.md section 1.2, profile `capture`).
enum UploadMetadata {
    static let byteLimit = 16384

    /// - Parameter position: The position; nil if the bundle has no location.json.
    static func encode(
        manifest: Manifest, deviceModel: String, position: GeoPosition?, assertion: [UInt8]
    ) -> [UInt8] {
        CanonicalJSON.encode(
            .members([
                "assertion": .string(Base64.encode(assertion)),
                "captured_at": .string(manifest.capturedAt.description),
                "depth_map_dimensions": manifest.depth.map {
                    .members(["height": .integer($0.size.height), "width": .integer($0.size.width)])
                },
                "device_model": .string(deviceModel),
                "location": position.map(location),
                "photo_hash": manifest.entry(.photo).map { .string(Base64.encode($0.sha256.bytes)) },
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
