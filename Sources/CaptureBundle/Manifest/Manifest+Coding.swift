import CaptureNative

extension BundleError.Code {
    static let manifestCanonical = Self("manifest.canonical")
    package static let manifestVersion = Self("manifest.version")
    static let manifestKey = Self("manifest.key")
    static let manifestValue = Self("manifest.value")
    static let manifestDevice = Self("manifest.device")
    static let manifestLimit = Self("manifest.limit")
    static let manifestEntries = Self("manifest.entries")
    static let manifestChain = Self("manifest.chain")
    static let manifestID = Self("manifest.id")
}

extension Manifest {
    /// Encodes the bytes of `manifest.json`.
    public func encode() -> [UInt8] {
        CanonicalJSON.encode(
            .members([
                "captured_at": .string(capturedAt.description),
                "chain": chain.map {
                    .members(["prev": $0.prev.map { .string($0.description) }, "seq": .integer($0.seq)])
                },
                "depth": depth.map(Self.encode),
                "device": .string(device.base64),
                "entries": .array(entries.map(Self.encode)),
                "id": .string(id),
                "version": .integer(Self.version),
            ]))
    }

    private static func encode(_ entry: ManifestEntry) -> JSONValue {
        .members([
            "media_type": .string(entry.mediaType),
            "path": .string(entry.path.description),
            "role": .string(entry.role.rawValue),
            "sha256": .string(entry.sha256.description),
            "size": .integer(entry.size),
            "withholdable": entry.isWithholdable ? .bool(true) : nil,
        ])
    }

    private static func encode(_ depth: DepthDescription) -> JSONValue {
        .members([
            "encoding": .string(DepthDescription.encoding),
            "height": .integer(depth.size.height),
            "sha256": .string(depth.sha256.description),
            "source": .members([
                "encoding": .string(depth.source.encoding),
                "invalid": .string(depth.source.invalid),
                "row_order": .string(depth.source.rowOrder),
                "scale": .string(depth.source.scale),
            ]),
            "unit": .string(DepthDescription.unit),
            "width": .integer(depth.size.width),
        ])
    }

    /// Parses `manifest.json` and checks it: rules M1 to M9.
    ///
    /// - Throws: `BundleError` with the code of the first rule that is violated.
    public static func decode(_ bytes: [UInt8]) throws(BundleError) -> Manifest {
        let fields = try ManifestObject(canonicalRoot(bytes), at: "the manifest")
        guard fields.value["version"]?.integer == version else {
            guard fields.value["version"] != nil else { throw fields.missing("version") }
            throw BundleError(.manifestVersion, "version is not 1, the only version that this program reads")
        }
        try fields.allow(["captured_at", "chain", "depth", "device", "entries", "id", "version"])
        let capturedAt = try decodeTime(fields)
        let device = try decodeDevice(fields)
        let id = try fields.text("id")
        var entries: [ManifestEntry] = []
        for (index, value) in try fields.array("entries").enumerated() {
            entries.append(try decodeEntry(ManifestObject(value, at: "entries[\(index)]")))
        }
        try validate(entries)
        let depth = try fields.optionalObject("depth").map(decodeDepth)
        try validate(depth, entry: entries.first { $0.path == .depth })
        let chain = try fields.optionalObject("chain").map(decodeChain)
        let manifest = try Manifest(
            capturedAt: capturedAt, device: device, entries: entries, depth: depth, chain: chain)
        guard manifest.id == id else {
            throw BundleError(.manifestID, "id is \(id), but the content gives \(manifest.id)")
        }
        return manifest
    }

    /// Checks rule M1: canonical bytes of the restricted form.
    private static func canonicalRoot(_ bytes: [UInt8]) throws(BundleError) -> JSONValue {
        let root = try CanonicalJSON.decode(
            bytes, nesting: BundleLimits.manifestNesting, or: .manifestCanonical, "not in canonical form (RFC 8785)")
        guard root.members != nil else { throw BundleError(.manifestCanonical, "is \(root.kind), expected an object") }
        if let breach = breach(in: root) { throw BundleError(.manifestCanonical, breach) }
        return root
    }

    private static func breach(in value: JSONValue) -> String? {
        switch value {
        case .object(let members):
            for member in members {
                if let breach = breach(in: .string(member.name)) ?? breach(in: member.value) { return breach }
            }
            return nil
        case .array(let elements): return elements.lazy.compactMap(breach).first
        case .string(let text):
            return text.utf8.allSatisfy { (0x20...0x7e).contains($0) }
                ? nil : "a string has characters other than printable ASCII"
        case .number(let text):
            let isInteger = value.integer != nil && (text == "0" || !text.hasPrefix("0"))
            return isInteger ? nil : "the number \(text) is not an integer from 0 to 2^53 - 1"
        case .bool(true): return nil
        case .bool(false), .null: return "\(value.kind == "null" ? "null" : "false") is not used in a manifest"
        }
    }

    private static func decodeTime(_ fields: ManifestObject) throws(BundleError) -> CaptureTime {
        let text = try fields.text("captured_at")
        guard let time = CaptureTime(text), time.description == text else {
            throw fields.wrong("captured_at", "not a UTC time with milliseconds, like 2026-03-14T14:09:26.535Z")
        }
        return time
    }

    private static func decodeDevice(_ fields: ManifestObject) throws(BundleError) -> DevicePoint {
        let text = try fields.text("device")
        guard let point = Base64.decode(text) else { throw fields.wrong("device", "not base64") }
        guard try DevicePoint.isOnCurve(point) else {
            throw BundleError(.manifestDevice, "device is not an uncompressed point on P-256 (\(point.count) bytes)")
        }
        return try DevicePoint(bytes: point)
    }

    private static func decodeEntry(_ fields: ManifestObject) throws(BundleError) -> ManifestEntry {
        try fields.allow(["media_type", "path", "role", "sha256", "size", "withholdable"])
        let text = try fields.text("path")
        let mediaType = try fields.text("media_type")
        let role = try fields.text("role")
        let sha256 = try fields.digest("sha256")
        let size = try fields.integer("size")
        let isWithholdable = try fields.flag("withholdable")
        guard let path = EntryPath(text) else {
            throw BundleError(.manifestEntries, "\(fields.place): \(text) is not an allowed path")
        }
        guard role == path.role.rawValue else {
            throw BundleError(.manifestEntries, "\(path): role is \(role), expected \(path.role.rawValue)")
        }
        let expected = path.role.mediaType
        guard expected.map({ $0 == mediaType }) ?? isMediaType(mediaType) else {
            throw BundleError(
                .manifestEntries, "\(path): media_type is \(mediaType), expected \(expected ?? "type/subtype")")
        }
        if isWithholdable && path == .metadata {
            throw BundleError(.manifestEntries, "metadata.json cannot be withholdable")
        }
        let limit = path == .metadata ? BundleLimits.metadataBytes : BundleLimits.entryBytes
        guard size <= limit else {
            throw BundleError(.manifestLimit, "\(path) has \(size) bytes, at most \(limit) are allowed")
        }
        guard path != .location || size == BundleLimits.locationBytes else {
            throw BundleError(
                size > BundleLimits.locationBytes ? .manifestLimit : .manifestValue,
                "location.json has \(size) bytes, expected \(BundleLimits.locationBytes)")
        }
        return ManifestEntry(
            path: path, mediaType: mediaType, size: size, sha256: sha256, isWithholdable: isWithholdable)
    }

    private static func validate(_ entries: [ManifestEntry]) throws(BundleError) {
        guard entries.count <= BundleLimits.entries else {
            throw BundleError(.manifestLimit, "\(entries.count) entries, at most \(BundleLimits.entries) are allowed")
        }
        for (one, next) in zip(entries, entries.dropFirst()) where !(one.path < next.path) {
            throw BundleError(.manifestEntries, "\(next.path) is listed after \(one.path)")
        }
        for path in [EntryPath.photo, .metadata] where !entries.contains(where: { $0.path == path }) {
            throw BundleError(.manifestEntries, "\(path) is not listed")
        }
    }

    private static func validate(_ depth: DepthDescription?, entry: ManifestEntry?) throws(BundleError) {
        guard (depth == nil) == (entry == nil) else {
            throw BundleError(.manifestEntries, "depth and the entry depth.f32.gz must both be present, or both absent")
        }
        guard let depth, let entry, entry.size > depth.size.entryLimit else { return }
        throw BundleError(
            .manifestLimit,
            "\(entry.path) has \(entry.size) bytes, at most \(depth.size.entryLimit) "
                + "are allowed for \(depth.size) samples"
        )
    }

    private static func decodeDepth(_ fields: ManifestObject) throws(BundleError) -> DepthDescription {
        try fields.allow(["encoding", "height", "sha256", "source", "unit", "width"])
        _ = try fields.text("encoding") { $0 == DepthDescription.encoding }
        _ = try fields.text("unit") { $0 == DepthDescription.unit }
        let width = try fields.integer("width")
        let height = try fields.integer("height")
        guard let size = DepthSize(width: width, height: height) else {
            throw fields.wrong("width", "\(width)x\(height) is outside 1 to \(BundleLimits.depthSide)")
        }
        let sha256 = try fields.digest("sha256")
        let source = try fields.object("source")
        try source.allow(["encoding", "invalid", "row_order", "scale"])
        return DepthDescription(
            size: size, sha256: sha256,
            source: DepthDescription.Source(
                encoding: try source.text("encoding") { isToken($0, limit: 32) },
                invalid: try source.text("invalid") { DepthDescription.invalidValues.contains($0) },
                rowOrder: try source.text("row_order") { DepthDescription.rowOrders.contains($0) },
                scale: try source.text("scale") { isDecimal($0) }))
    }

    private static func decodeChain(_ fields: ManifestObject) throws(BundleError) -> ChainLink {
        try fields.allow(["prev", "seq"])
        let seq = try fields.integer("seq")
        let prev = fields.value["prev"] == nil ? nil : try fields.digest("prev")
        guard seq >= 1, (seq == 1) == (prev == nil) else {
            throw BundleError(
                .manifestChain, "seq \(seq) is \(prev == nil ? "without" : "with") prev; only seq 1 has no prev")
        }
        return ChainLink(seq: seq, prev: prev)
    }
}
