import CaptureBundle
import CaptureQueue
import Hummingbird

/// `/api/v1/captures`: receives captures, and says which were received.
struct CaptureRoutes: Sendable {
    let folder: ReceiverFolder
    let index: CaptureIndex
    let keeper: Keeper
    let devices: Devices
    let slots: Slots
    let threads: BlockingThreads
    let publicURL: PublicURL
    /// Where other receivers find the captures; nil if there are no others.
    let sharedPhotos: SharedPhotos?
    /// The maximum number of samples on a side of a depth map.
    let depthSide: Int

    /// The limits of the upload contract in bytes.
    static let bodyLimit = 20 << 20
    private static let photoLimit = 10 << 20
    private static let depthLimit = 5 << 20

    /// `POST`: receives a body, verifies it, and keeps its bundle. Only then does it answer 202.
    func post(_ request: Request, _ context: ReceiverContext) async throws -> Response {
        let sender = try await Sender.of(request, devices, threads)
        let boundary = try FormType.boundary(of: request)
        let key = try idempotencyKey(request)
        try request.announcedLength(limit: Self.bodyLimit)
        let id = try await slots.run(request, context, device: sender.device.id) { slot in
            try await receive(request, context, slot, sender, boundary, key)
        }
        if let sharedPhotos {
            try await threads.run { try sharedPhotos.add(index.capture(id), publicURL) }
        }
        return try Envelope.answer(.accepted, data: CaptureAnswer(id, publicURL), context)
    }

    /// `GET`: returns the status of a capture to the device that sent it.
    func get(_ request: Request, _ context: ReceiverContext) async throws -> Response {
        let sender = try await Sender.of(request, devices, threads)
        let id = try context.parameters.require("id")
        let row = try await threads.run {
            try sender.verify(body: Digest.of([]))
            return try index.capture(id)
        }
        guard let row else { throw APIError.captureNotFound }
        guard row.device == sender.device.id else {
            throw APIError(.forbidden, "FORBIDDEN", "another device sent this capture")
        }
        return try Envelope.answer(.ok, data: CaptureAnswer(row.id, publicURL), context)
    }

    private func receive(
        _ request: Request, _ context: ReceiverContext, _ slot: Slots.Slot, _ sender: Sender, _ boundary: [UInt8],
        _ key: String?
    ) async throws -> String {
        let (body, sha256) = try await BodyFile.receive(
            request, context, slot, limit: Self.bodyLimit, at: folder.newBody(), threads)
        let identity = CaptureRequest(device: sender.device.id, bodySHA256: sha256, idempotencyKey: key)
        let arrival = try await threads.run {
            try sender.verify(body: sha256)
            try body.check(boundary)
            try index.check(identity)
            return try restore(body, from: sender.device)
        }
        return try await keeper.keep(arrival, for: identity)
    }

    /// Restores the bundle from a body, and verifies it: it must be sound, and signed by the device that sent it.
    private func restore(
        _ body: BodyFile, from device: RegisteredDevice
    ) throws -> Keeper.Arrival {
        let receiver = BundleReceiver(trust: try device.trust(), policy: VerificationPolicy(allowsWithheld: true))
        let received = try keeper.receive(body.path, receiver)
        let report = received.report
        switch report.verdict {
        case .verified: break
        case .altered, .malformed: throw APIError.validation(report.faults.first?.message ?? report.verdict.word)
        case .unknownDevice:
            throw APIError(.forbidden, "DEVICE_MISMATCH", "the bundle was not made by the device that sent it")
        case .unacceptable:
            throw APIError(.forbidden, "NOT_ACCEPTABLE", report.faults.first?.message ?? report.verdict.word)
        }
        guard let manifest = report.manifest else { throw APIError.internalError }
        try Self.check(manifest.entry(.photo), "photo", Self.photoLimit)
        try Self.check(manifest.entry(.depth), "depth map", Self.depthLimit)
        if let size = manifest.depth?.size, max(size.width, size.height) > depthSide {
            throw APIError.tooLarge(
                "the depth map has \(size.width)x\(size.height) samples, at most \(depthSide) on a side are allowed")
        }
        return Keeper.Arrival(bundle: received, device: device, manifest: manifest)
    }

    private static func check(_ entry: ManifestEntry?, _ name: String, _ limit: Int) throws {
        guard let entry, entry.size > limit else { return }
        throw APIError.tooLarge("the \(name) has \(entry.size) bytes, at most \(limit) are allowed")
    }

    private func idempotencyKey(_ request: Request) throws -> String? {
        let values = request.headers[values: .idempotencyKey]
        guard let key = values.first else { return nil }
        guard values.count == 1, (1...255).contains(key.utf8.count), key.utf8.allSatisfy({ (0x21...0x7e).contains($0) })
        else { throw APIError.validation("Idempotency-Key is not 1 to 255 printable characters without spaces") }
        return key
    }
}

/// What the API says of a capture.
struct CaptureAnswer: Encodable {
    let captureID: String
    var status = "complete"
    let verificationURL: String

    init(_ id: String, _ publicURL: PublicURL) {
        captureID = id
        verificationURL = publicURL.page(of: id)
    }
}
