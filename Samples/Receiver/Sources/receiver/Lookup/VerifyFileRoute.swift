import CaptureBundle
import Foundation
import Hummingbird

/// `POST /api/v1/verify-file`: does a photo belong to a capture that was received? The request needs no device. If
/// several captures have the photo, the answer names the one that arrived first.
struct VerifyFileRoute: Sendable {
    let index: CaptureIndex
    let devices: Devices
    let slots: Slots
    let threads: BlockingThreads
    let publicURL: PublicURL
    let sharedPhotos: SharedPhotos?

    private static let limit = 20 << 20

    private struct Answer: Encodable {
        let status: String
        var captureID: String?
        var verificationURL: String?
        /// Whether the operator has revoked the device since.
        var deviceRevoked: Bool?
        let fileHash: String
    }

    func post(_ request: Request, _ context: ReceiverContext) async throws -> Response {
        let boundary = try FormType.boundary(of: request)
        try request.announcedLength(limit: Self.limit)
        let photo = try await slots.run(request, context) { slot in
            try await PartDigest.of(
                "file", in: request.pieces(context, limit: Self.limit, slot), boundary: boundary)
        }
        let (found, isRevoked) = try await threads.run {
            let found = try find(photo)
            return (found, try found?.device.flatMap { try devices.device($0) }?.isRevoked)
        }
        let answer = Answer(
            status: found == nil ? "no_record" : "verified", captureID: found?.captureID,
            verificationURL: found?.verificationURL, deviceRevoked: isRevoked,
            fileHash: Data(photo.bytes).base64EncodedString())
        return try Envelope.answer(.ok, data: answer, context)
    }

    private func find(_ photo: Digest) throws -> SharedPhotos.Found? {
        guard let row = try index.capture(photo: photo) else { return try sharedPhotos?.find(photo) }
        return SharedPhotos.Found(row, publicURL)
    }
}
