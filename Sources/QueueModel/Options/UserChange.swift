/// A change that a user makes to captures.
public enum UserChange: String, Sendable, CaseIterable {
    case hold, release, cancel, retry

    package var event: DeliveryEvent {
        switch self {
        case .hold: .hold
        case .release: .release
        case .cancel: .cancel
        case .retry: .retry
        }
    }

    /// Whether captures are sent because of it.
    package var sends: Bool { self == .retry || self == .release }

    /// The states that a filter without states covers. A capture with several deliveries shows only the state of most
    /// concern, which can hide others. `retry` leaves out cancelled captures, because somebody did not want them sent;
    /// they need their id or `--state cancelled`.
    package var candidates: [DeliveryState] {
        DeliveryState.allCases.filter { $0 != .completed && (self != .retry || $0 != .cancelled) }
    }
}

/// The options of a change.
public struct ChangeOptions: Sendable {
    /// Whether to change nothing.
    public var isDryRun = false
    /// The only destination whose deliveries change; nil for all destinations.
    public var destination: String?

    public init() {}
}
