import CaptureNative

/// Handles an upload body as a receiving server must: it rebuilds the bundle byte for byte, verifies it in the same
/// pass, and keeps it only if it is sound (Spec/upload.md section 1.3).
///
/// ```swift
/// let receiver = BundleReceiver(trust: try TrustFile(path: "trusted_devices"))
/// let received = try receiver.receive(BundleSource(path: "body"), to: .file("cap.bundle"))
/// guard received.isKept else { … }
/// ```
public struct BundleReceiver: Sendable {
    /// The result of receiving a body.
    public struct Received: Sendable {
        /// The report of the bundle, with the faults of the body.
        public let report: VerificationReport
        /// Whether the bundle was sound and is now in its place. The verdict says whether its device is trusted.
        public let isKept: Bool
        /// The number of the body's boundary among the candidates; it means something only if the bundle was kept.
        package let candidate: Int
    }

    private let verifier: Verifier

    public init(trust: TrustFile, policy: VerificationPolicy = VerificationPolicy()) {
        verifier = Verifier(trust: trust, policy: policy)
    }

    /// Reads a body once, in constant memory.
    ///
    /// - Throws: An error only if the body cannot be read or the bundle cannot be written (`input.unreadable`,
    ///   `output.exists`, `output.unusable`, `io.failed`). A body with faults is a result.
    public func receive(_ body: BundleSource, to place: OutputPlace) throws(BundleError) -> Received {
        try OutputPlace.examine([place], reading: body.status)
        let (received, target) = try rebuild(body, place)
        if received.isKept { try target.commit() }
        return received
    }

    private func rebuild(
        _ body: BundleSource, _ place: OutputPlace
    ) throws(BundleError) -> (Received, OutputTarget) {
        let target = try OutputTarget(place, holdsBack: true)
        return (try rebuild(body) { try target.write($0) }, target)
    }

    /// Receives a body while it arrives, on a thread of its own. The pieces are asked for as fast as they are verified
    /// and written, so memory stays bounded.
    ///
    /// - Parameters:
    ///   - pieces: The bytes of the body. Nothing is kept if they end with an error.
    ///   - accept: Gets the hash of the whole body, which the headers of a request sign (`RequestSignature`). Nothing is
    ///     kept if it throws.
    /// - Throws: The errors of `pieces`, of `accept`, and of `receive(_:to:)`, in this order; `CancellationError`.
    public func receive<Pieces: AsyncSequence & Sendable>(
        _ pieces: Pieces, to place: OutputPlace, accept: @escaping @Sendable (Digest) throws -> Void
    ) async throws -> Received where Pieces.Element == [UInt8] {
        try await ArrivingBody.read(pieces) { body in
            let rebuilt = Result { try rebuild(body.source, place) }
            try accept(body.finish())
            let (received, target) = try rebuilt.get()
            if received.isKept { try target.commit() }
            return received
        }
    }

    /// Rebuilds and verifies the bundle of a body.
    ///
    /// - Parameter take: Receives the bytes of the bundle, which must be held back until the report is there.
    /// - Returns: The report, and whether the bundle is sound and may be kept.
    package func rebuild(
        _ body: BundleSource, _ take: @escaping (Span<UInt8>) throws -> Void
    ) throws(BundleError) -> Received {
        let reader = BodyReader(body)
        let bundle = BundleSource(stream: reader, name: body.name, onPiece: take)
        var report = try verifier.verify(BundleReader(bundle), observer: nil)
        let isSound = report.isSound
        if isSound { report.faults += try reader.check(report) }
        let isBroken = report.faults.contains { $0.code.part == "body" }
        // The number of bytes rebuilt until then depends on the pieces in which the body arrived, so it is not
        // reported.
        if isBroken && !isSound { report.bytes = 0 }
        report.checks.insert(.init(name: "body", outcome: isBroken ? .failed : .passed), at: 0)
        return Received(report: report, isKept: isSound && !isBroken, candidate: reader.candidate)
    }
}

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
        let members = position.root.members ?? []
        return .object(members.filter { names.contains($0.name) && $0.value.numberText != nil })
    }
}
