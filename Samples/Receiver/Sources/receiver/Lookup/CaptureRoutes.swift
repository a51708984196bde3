import CaptureBundle
import Hummingbird

/// `GET /api/v1/captures/ID`: returns the status of a capture to the device that sent it.
struct CaptureRoutes: Sendable {
    let index: CaptureIndex
    let devices: Devices
    let threads: BlockingThreads
    let publicURL: PublicURL

    func get(_ request: Request, _ context: ReceiverContext) async throws -> Response {
        let sender = try await Sender.of(request, devices, threads)
        try await threads.run { try sender.verify(body: Digest.of([])) }
        let id = try context.parameters.require("id")
        guard let row = try await threads.run({ try index.capture(id) }) else { throw APIError.captureNotFound }
        guard row.device == sender.device.id else {
            throw APIError(.forbidden, "FORBIDDEN", "another device sent this capture")
        }
        return try Envelope.answer(.ok, data: CaptureAnswer(row.id, publicURL), context)
    }
}
