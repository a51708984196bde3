import CaptureBundle
import Foundation
import Hummingbird

/// `POST /api/v1/verify-file`: does a photo belong to a capture that was received? The request needs no device. If
/// several captures have the photo, the answer names the one that arrived first.
struct VerifyFileRoute: Sendable {
    let depot: Depot
    let slots: Slots

    private static let limit = 20 << 20

    func post(_ request: Request, _ context: ReceiverContext) async throws -> Response {
        let boundary = try FormType.boundary(of: request)
        try request.announcedLength(limit: Self.limit)
        let photo = try await slots.run(request, context) { slot in
            try await PartDigest.of(
                "file", in: request.pieces(context, limit: Self.limit, slot), boundary: boundary)
        }
        let (found, isRevoked) = try await depot.threads.run {
            let found = try depot.capture(photo: photo)
            return (found, try found?["device"].flatMap { try depot.devices.device($0) }?.isRevoked)
        }
        let answer: [String: Any?] = [
            "status": found == nil ? "no_record" : "verified", "capture_id": found?["capture_id"],
            "verification_url": found?["verification_url"], "device_revoked": isRevoked,
            "file_hash": Data(photo.bytes).base64EncodedString(),
        ]
        return try context.answer(.ok, answer.compactMapValues(\.self))
    }
}
