public import CaptureBundle

/// A change of state, or an attempt to send.
public struct HistoryEvent: Hashable, Sendable {
    public enum Kind: Hashable, Sendable {
        case transition(from: DeliveryState?, to: DeliveryState, event: String, cause: String?)
        case attempt(
            number: Int, endedAt: CaptureTime?, outcome: String?, code: String?, message: String?, bytesSent: Int?)
    }

    /// When it happened.
    public let at: CaptureTime
    public let destination: String?
    public let kind: Kind

    package init(at: CaptureTime, _ destination: String?, _ kind: Kind) {
        (self.at, self.destination, self.kind) = (at, destination, kind)
    }
}
