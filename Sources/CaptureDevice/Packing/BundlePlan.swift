import CaptureBundle
import CaptureNative
import SystemPackage

/// All parts of a bundle except its signature.
struct BundlePlan: Sendable {
    private(set) var manifest: Manifest
    private(set) var manifestBytes: [UInt8]
    /// The contents of the entries, in the manifest's order.
    let contents: [PayloadContent]
    let remarks: [Remark]
    private let deviceModel: String
    private let position: GeoPosition?
    private let layout: String
    private let frame: String?

    /// - Parameters:
    ///   - secret: The secret from which the salt of the position is made.
    ///   - remarks: The remarks about RAW as a whole.
    init(
        _ capture: RawCapture, device: DevicePoint, secret: [UInt8], remarks: [Remark] = []
    ) throws(BundleError) {
        var parts: [(entry: ManifestEntry, content: PayloadContent)] = []
        func add(_ path: EntryPath, _ bytes: [UInt8], isWithholdable: Bool = false) throws(BundleError) {
            let entry = ManifestEntry(
                path: path, size: bytes.count, sha256: try Digest.of(bytes), isWithholdable: isWithholdable)
            parts.append((entry, .bytes(bytes)))
        }
        let photo = capture.photo
        parts.append((ManifestEntry(path: .photo, size: photo.size, sha256: photo.sha256), photo.content))
        try add(.metadata, capture.metadata)
        if let position = capture.position {
            do {
                let bytes = try position.encode(secret: secret, photo: photo.sha256, capturedAt: capture.capturedAt)
                try add(.location, bytes, isWithholdable: true)
            } catch {
                guard error.code == .locationValue else { throw error }
                throw BundleError(.rawCapture, "location: \(error.message)", file: capture.metadataFile)
            }
        }
        if let depth = capture.depth {
            let made = try DepthMapCodec.compress(depth.floats, size: depth.size, sha256: depth.sha256)
            parts.append((ManifestEntry(path: .depth, size: made.size, sha256: made.sha256), made.content))
        }
        parts += capture.carried.map { ($0.entry, $0.content) }
        for index in parts.indices where capture.withholdable.contains(parts[index].entry.path) {
            parts[index].entry.isWithholdable = true
        }
        parts.sort { $0.entry.path < $1.entry.path }
        contents = parts.map(\.content)
        manifest = try Manifest(
            capturedAt: capture.capturedAt, device: device, entries: parts.map(\.entry),
            depth: capture.depth.map { DepthDescription(size: $0.size, sha256: $0.sha256, source: $0.source) })
        manifestBytes = manifest.encode()
        deviceModel = capture.deviceModel
        position = capture.position
        (layout, frame) = (capture.layout, capture.frame)
        self.remarks = remarks + capture.remarks + Self.remarks(manifest, capture)
    }

    private static func remarks(_ manifest: Manifest, _ capture: RawCapture) -> [Remark] {
        guard let depth = manifest.entry(.depth), depth.size > UploadAdvice.depthBytes, let file = capture.depth?.file
        else { return [] }
        let message = "has \(depth.size) bytes compressed; servers refuse more than \(UploadAdvice.depthBytes)"
        return [Remark(weight: .warning, code: "upload.size", file: file.string, message: message)]
    }

    /// The same bundle with a link of the device's chain.
    func linked(_ link: Manifest.ChainLink) throws(BundleError) -> BundlePlan {
        var plan = self
        plan.manifest = try Manifest(
            capturedAt: manifest.capturedAt, device: manifest.device, entries: manifest.entries, depth: manifest.depth,
            chain: link)
        plan.manifestBytes = plan.manifest.encode()
        return plan
    }

    /// The number of bytes that the contents need in memory.
    var memory: Int {
        contents.reduce(0) { total, content in
            if case .bytes(let bytes) = content { total + bytes.count } else { total }
        }
    }

    /// Signs the manifest and writes the bundle and, if requested, its upload body.
    func sign(
        _ device: DeviceKey, counter: UInt32, to target: OutputTarget, body places: Packer.BodyPlaces?
    ) throws(BundleError) -> Packer.Packed {
        let assertion = try write(device, counter: counter, to: target.handle, name: target.name)
        // Both files are complete before either gets its name.
        let made = try makeBody(assertion: assertion, places)
        try target.commit()
        try made?.commit()
        return try packed(counter: counter, assertion: assertion.count, body: made?.body)
    }

    /// Signs the manifest and writes the bundle to `sink`, which the caller still has to commit. Returns the assertion.
    func write(
        _ device: DeviceKey, counter: UInt32, to sink: FileHandle, name: String
    ) throws(BundleError) -> [UInt8] {
        let assertion = try assertion(device, counter: counter)
        try write(assertion: assertion, to: sink, name: name)
        return assertion
    }

    /// Signs the manifest.
    func assertion(_ device: DeviceKey, counter: UInt32) throws(BundleError) -> [UInt8] {
        try Assertion(signing: manifestBytes, key: device.key, counter: counter).encode()
    }

    func packed(counter: UInt32?, assertion: Int, body: MultipartBody?) throws(BundleError) -> Packer.Packed {
        Packer.Packed(
            manifest: manifest, manifestSHA256: try Digest.of(manifestBytes), counter: counter,
            byteCount: BundleWriter.byteCount(manifest, manifestSize: manifestBytes.count, assertion: assertion),
            body: body, layout: layout, frame: frame, remarks: remarks)
    }

    /// An upload body that is complete but has no name yet.
    struct MadeBody {
        let body: MultipartBody
        fileprivate let target: OutputTarget
        fileprivate let headers: OutputPlace?

        /// - Parameter isAgain: Whether an earlier run made the bundle, and perhaps the body.
        func commit(isAgain: Bool = false) throws(BundleError) {
            try body.commit(target, headers, isAgain: isAgain)
        }
    }

    /// Writes the upload body; nil if none was requested.
    func makeBody(assertion: [UInt8], _ places: Packer.BodyPlaces?) throws(BundleError) -> MadeBody? {
        guard let places else { return nil }
        let facts = BodyFacts(
            manifest, manifestBytes, assertion: assertion, deviceModel: deviceModel, position: position)
        var candidate = 0
        while true {
            let layout = try BodyLayout(facts, name: places.body.name, from: candidate)
            let target = try OutputTarget(places.body, holdsBack: true)
            let writer = BodyWriter(layout, target)
            for (entry, content) in zip(manifest.entries, contents) {
                try writer.begin(entry)
                try content.stream(size: entry.size, sha256: entry.sha256) { piece in
                    try writer.consume(piece)
                }
            }
            if try writer.finish() { return MadeBody(body: layout.body, target: target, headers: places.headers) }
            candidate = layout.candidate + 1
        }
    }

    /// Writes the bundle without syncing the sink.
    ///
    /// - Parameter assertion: nil leaves zero bytes in its place.
    func write(assertion: [UInt8]?, to sink: FileHandle, name: String) throws(BundleError) {
        let writer = BundleWriter(name: name) { bytes in
            try native({ .writing(name, $0) }) { try sink.write(bytes) }
        }
        try writer.write(manifest: manifestBytes, assertion: assertion)
        for (entry, content) in zip(manifest.entries, contents) { try writer.write(entry, content) }
        try writer.finish()
    }
}
