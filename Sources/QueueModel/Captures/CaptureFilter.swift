/// Selects captures.
public struct CaptureFilter: Hashable, Sendable {
    public var states: [DeliveryState] = []
    public var session: String?
    /// Selects captures with a delivery to this destination.
    public var destination: String?

    public init() {}

    public var isEmpty: Bool { states.isEmpty && session == nil && destination == nil }
}
