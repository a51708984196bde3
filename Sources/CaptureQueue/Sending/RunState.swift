package import QueueModel

/// What a run may do now: whether it is ending or paused, and how its destinations stand. Pure.
package struct RunState: Hashable, Sendable {
    package var isStopping = false
    /// By the user, for all destinations.
    package var isPaused = false
    /// By number of the destination.
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

    /// - Returns: numbers of the destinations that are offline, and are connected to now.
    package mutating func networkChanged(at now: Int) -> [Int] {
        destinations.keys.sorted().filter { destinations[$0]?.networkChanged(at: now) ?? false }
    }
}
