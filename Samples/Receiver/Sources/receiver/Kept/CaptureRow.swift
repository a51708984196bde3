import CaptureBundle

/// What the index says of a capture.
struct CaptureRow: Sendable {
    /// The position in the order of arrival.
    let number: Int
    let id: String
    /// The UUID of the device, and its name at that time.
    let device: String
    let deviceName: String
    /// The time that the device claims: `2026-03-14T14:09:26.535Z`.
    let capturedAt: String
    /// Unix time in milliseconds.
    let receivedAt: Int
    /// The verdict when the capture arrived: `verified`, or `withheld` if it lacked entries.
    let verdict: String
    /// The hash of the photo in hex; nil if the bundle has no photo.
    let photoSHA256: String?
    /// Whether the bundle has a place that is not withheld.
    let hasPlace: Bool
}
