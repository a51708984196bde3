import CaptureBundle
import Foundation
import Hummingbird

/// `POST /api/v1/devices/register`: registers the device that has an invitation. The request is signed with the new
/// key, so the sender has that key.
struct RegistrationRoute: Sendable {
    let depot: Depot

    private struct Body: Decodable {
        let invitation: String
        let publicKey: DevicePoint
    }

    func post(_ request: Request, _ context: ReceiverContext) async throws -> Response {
        let signature = try Sender.headers(of: request)
        var bytes: [UInt8] = []
        for try await piece in try await request.pieces(context, limit: 4096) { bytes += piece }
        let decoder = JSONDecoder()
        decoder.keyDecodingStrategy = .convertFromSnakeCase
        guard let body = try? decoder.decode(Body.self, from: Data(bytes)) else {
            throw APIError.validation(
                "the body is not JSON with the members invitation and public_key, a P-256 key as a JSON Web Key")
        }
        let digest = try Digest.of(bytes)
        let device = try await depot.threads.run { try register(signature, digest, body) }
        return try context.answer(
            .created,
            [
                "device_id": device.id, "name": device.line.name, "key_id": device.line.point.keyID.description,
                // Nothing proves that the key is in hardware.
                "attestation_level": "unverified",
            ])
    }

    private func register(_ signature: RequestSignature, _ digest: Digest, _ body: Body) throws -> RegisteredDevice {
        let id = signature.deviceID.lowercased()
        // One answer for all reasons, so that nobody can find out which ids have an invitation.
        guard let invitation = try depot.devices.invitation(id),
            try invitation.accepts(body.invitation, at: UnixTime.now)
        else {
            throw APIError(
                .unauthorized, "INVITATION_INVALID",
                "the invitation is unknown, expired or revoked, or the secret is wrong")
        }
        let line = try TrustedDeviceLine(name: invitation.name, point: body.publicKey)
        let device = RegisteredDevice(id: id, line: line, isRevoked: false)
        try Sender(device: device, signature: signature).verify(body: digest)
        try depot.devices.register(id, line)
        return device
    }
}
