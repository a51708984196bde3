import CaptureBundle
import HTTPTypes
import Hummingbird

/// The device that claims to send a request, before its signature is checked.
struct Sender: Sendable {
    let device: RegisteredDevice
    let signature: RequestSignature

    /// Checks the headers before the body is read (Spec/upload.md section 2): their form, the time, and the device.
    static func of(_ request: Request, _ depot: Depot) async throws -> Sender {
        let signature = try headers(of: request)
        let device = try await depot.threads.run { try depot.devices.device(signature.deviceID.lowercased()) }
        guard let device else { throw APIError(.notFound, "DEVICE_NOT_FOUND", "no device has this id") }
        // With this code, capqueue keeps its captures until the operator has decided, and does not give them up.
        if device.isRevoked { throw APIError(.forbidden, "DEVICE_UNVERIFIED", "the device was revoked") }
        let sender = Sender(device: device, signature: signature)
        // The verification refuses a wrong form before it looks at the hash, so any hash will do.
        do { try sender.verify(body: Digest.of([])) } catch let error as APIError where error.status == .unauthorized {}
        return sender
    }

    /// Reads the three headers, each of which must be there exactly once, and checks the time.
    static func headers(of request: Request) throws -> RequestSignature {
        let names: [HTTPField.Name] = [.deviceID, .deviceTimestamp, .deviceSignature]
        let values = names.map { request.headers[values: $0] }
        guard !values.contains([]) else {
            throw APIError(
                .unauthorized, "DEVICE_AUTH_REQUIRED",
                "the request needs the headers X-Device-Id, X-Device-Timestamp and X-Device-Signature")
        }
        guard values.allSatisfy({ $0.count == 1 }), RequestSignature.isDeviceID(values[0][0]) else {
            throw APIError.validation("X-Device-Id is not a UUID, or one of the X-Device headers is repeated")
        }
        try check(timestamp: values[1][0])
        return RequestSignature(deviceID: values[0][0], timestamp: values[1][0], signature: values[2][0])
    }

    private static func check(timestamp: String) throws {
        guard let time = Int(timestamp), String(time) == timestamp, time >= 0 else {
            throw APIError.validation("X-Device-Timestamp is not a decimal number of milliseconds")
        }
        let (age, isOverflow) = UnixTime.now.subtractingReportingOverflow(time)
        guard !isOverflow, age >= -60_000 else {
            throw APIError(
                .unauthorized, "TIMESTAMP_INVALID",
                "X-Device-Timestamp is more than 60 s ahead of the receiver's clock")
        }
        guard age <= 300_000 else {
            throw APIError(
                .unauthorized, "TIMESTAMP_EXPIRED",
                "X-Device-Timestamp is more than 300 s behind the receiver's clock")
        }
    }

    /// Checks that the device's key signed the request with this body.
    func verify(body: Digest) throws {
        do {
            try signature.verify(body: body, device: device.line.point)
        } catch  where error.code == .requestSignature {
            throw APIError(.unauthorized, "SIGNATURE_INVALID", error.message)
        } catch  where error.code == .requestHeader {
            throw APIError.validation(error.message)
        }
    }
}
