import CaptureBundle
import CaptureQueue
import Hummingbird
import Synchronization

/// `/api/v1/captures`: receives captures, and says which were received.
struct CaptureRoutes: Sendable {
    let depot: Depot
    let keeper: Keeper
    let slots: Slots
    /// The maximum number of samples on a side of a depth map.
    let depthSide: Int

    /// The most bytes a body may have.
    private static let bodyLimit = 20 << 20

    /// `POST`: receives a body, verifies it, and keeps its bundle. Only then does it answer 202.
    func post(_ request: Request, _ context: ReceiverContext) async throws -> Response {
        let sender = try await Sender.of(request, depot)
        let boundary = try FormType.boundary(of: request)
        let key = try idempotencyKey(request)
        let length = try request.announcedLength(limit: Self.bodyLimit)
        let id = try await slots.run(request, context, device: sender.device.id) { slot in
            try await receive(request, length, context, slot, sender, boundary, key)
        }
        if depot.devices.isShared { try await depot.threads.run { try depot.share(id) } }
        return try context.answer(.accepted, answer(id))
    }

    /// `GET`: returns the status of a capture to the device that sent it.
    func get(_ request: Request, _ context: ReceiverContext) async throws -> Response {
        let sender = try await Sender.of(request, depot)
        let id = try context.parameters.require("id")
        let row = try await depot.threads.run {
            try sender.verify(body: Digest.of([]))
            return try depot.index.capture(id)
        }
        guard let row else { throw APIError(.notFound, "CAPTURE_NOT_FOUND", "no capture has this id") }
        guard row.device == sender.device.id else {
            throw APIError(.forbidden, "FORBIDDEN", "another device sent this capture")
        }
        return try context.answer(.ok, answer(row.id))
    }

    private func answer(_ id: String) -> [String: Any] {
        ["capture_id": id, "status": "complete", "verification_url": depot.publicURL.page(of: id)]
    }

    private func receive(
        _ request: Request, _ length: Int?, _ context: ReceiverContext, _ slot: Slots.Slot, _ sender: Sender,
        _ boundary: [UInt8], _ key: String?
    ) async throws -> String {
        let device = sender.device
        let receiver = BundleReceiver(trust: try device.trust(), policy: VerificationPolicy(allowsWithheld: true))
        let first = Array("--".utf8) + boundary + Array("\r\n".utf8)
        let start = Mutex<[UInt8]>([])
        let pieces = try await request.pieces(context, limit: Self.bodyLimit, slot).map { piece in
            start.withLock { $0 += piece.prefix(first.count - $0.count) }
            return piece
        }
        @Sendable func identity(_ sha256: Digest) -> CaptureRequest {
            CaptureRequest(device: device.id, bodySHA256: sha256, idempotencyKey: key)
        }
        // Only the device that signed the body learns what is wrong with the bundle, and only after the whole body.
        let names = try await depot.threads.run { try depot.queue.namesOfDestinations() }
        let received = try await depot.queue.captures.receive(
            pieces, byteCount: length, receiver, destinations: names
        ) { sha256 in
            slot.isWhole()
            try sender.verify(body: sha256)
            guard start.withLock({ $0 == first }) else {
                throw APIError.validation("the body does not begin with the boundary of Content-Type")
            }
            try depot.index.check(identity(sha256))
        }
        let manifest = try check(received.report)
        return try await keeper.keep(
            .init(bundle: received, device: device, manifest: manifest, request: identity(received.bodySHA256)))
    }

    /// Checks that a bundle is sound, that its device sent it, and its limits.
    private func check(_ report: VerificationReport) throws -> Manifest {
        switch report.verdict {
        case .verified: break
        case .altered, .malformed: throw APIError.validation(report.faults.first?.message ?? report.verdict.word)
        case .unknownDevice:
            throw APIError(.forbidden, "DEVICE_MISMATCH", "the bundle was not made by the device that sent it")
        case .unacceptable:
            throw APIError(.forbidden, "NOT_ACCEPTABLE", report.faults.first?.message ?? report.verdict.word)
        }
        guard let manifest = report.manifest else { throw APIError.internalError }
        try Self.check(manifest.entry(.photo), "photo", 10 << 20)
        try Self.check(manifest.entry(.depth), "depth map", 5 << 20)
        if let size = manifest.depth?.size, max(size.width, size.height) > depthSide {
            throw APIError.tooLarge(
                "the depth map has \(size.width)x\(size.height) samples, at most \(depthSide) on a side are allowed")
        }
        return manifest
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
