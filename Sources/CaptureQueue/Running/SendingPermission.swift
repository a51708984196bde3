package import QueueModel

/// Decides what a run may do now, from its own state and that of its destinations.
package struct SendingPermission: Hashable, Sendable {
    package var isStopping = false
    /// Whether the user paused all destinations.
    package var isPaused = false
    /// The destinations by their number.
    private var destinations: [Int: DestinationState] = [:]

    package init() {}

    package subscript(number: Int) -> DestinationState {
        get { destinations[number] ?? DestinationState() }
        set { destinations[number] = newValue }
    }

    package func knows(_ number: Int) -> Bool { destinations[number] != nil }

    package func permission(_ number: Int, at now: Int) -> DestinationState.Permission {
        isStopping || isPaused ? .paused : self[number].permission(at: now)
    }

    package mutating func begin(_ number: Int, at now: Int) -> DestinationState.Ticket? {
        isStopping || isPaused ? nil : self[number].begin(at: now)
    }

    /// - Returns: the numbers of the offline destinations, which should be connected to now.
    package mutating func networkChanged(at now: Int) -> [Int] {
        destinations.keys.sorted().filter { destinations[$0]?.networkChanged(at: now) ?? false }
    }
}
