import CaptureBundle

/// What makes two upload requests the same one: the device and the bytes of the body.
struct CaptureRequest: Sendable {
    /// The UUID of the device.
    let device: String
    let bodySHA256: Digest
    /// The client's Idempotency-Key; nil if it sent none.
    let idempotencyKey: String?
}
