import CaptureBundle
import CaptureQueue
import Hummingbird
import Synchronization

/// `/api/v1/captures`: receives captures, and says which were received.
struct CaptureRoutes: Sendable {
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
        let device = sender.device
        let receiver = BundleReceiver(trust: try device.trust(), policy: VerificationPolicy(allowsWithheld: true))
        let first = Array("--".utf8) + boundary + Array("\r\n".utf8)
        let start = Mutex<[UInt8]>([])
        let body = try await request.pieces(context, limit: Self.bodyLimit, slot)
        let pieces = body.map { piece in
            start.withLock { $0 += piece.prefix(first.count - $0.count) }
            return piece
        }
        @Sendable func identity(_ sha256: Digest) -> CaptureRequest {
            CaptureRequest(device: device.id, bodySHA256: sha256, idempotencyKey: key)
        }
        // Only the device that signed the body learns what is wrong with the bundle, and only after the whole body.
        let received = try await keeper.receive(pieces, byteCount: body.announced, receiver) { sha256 in
            try sender.verify(body: sha256)
            guard start.withLock({ $0 == first }) else {
                throw APIError.validation("the body does not begin with the boundary of Content-Type")
            }
            try index.check(identity(sha256))
        }
        return try await keeper.keep(arrival(received, from: device), for: identity(received.bodySHA256))
    }

    /// Checks that a bundle is sound, that its device sent it, and its limits.
    private func arrival(_ received: ReceivedBundle, from device: RegisteredDevice) throws -> Keeper.Arrival {
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

struct CaptureAnswer: Encodable {
    let captureID: String
    var status = "complete"
    let verificationURL: String

    init(_ id: String, _ publicURL: PublicURL) {
        captureID = id
        verificationURL = publicURL.page(of: id)
    }
}
