/// What a run knows, and what follows from it: a value without a clock, a file, a thread or a database.
///
/// Each event is a method. It changes the state and returns what is to be done (Spec/queue.md section 13.1). `RunOwner` holds
/// the only one of a run; threads bring events to it and do what it says.
package struct RunState: Sendable {
    package enum Stop { case none, graceful, atOnce }

    /// What is known of a destination.
    package struct Target {
        package var breaker = CircuitBreaker()
        /// Its current name, because the user may rename it during the run.
        package var name = ""
    }

    package private(set) var stop = Stop.none
    /// The first error for which the queue could not be read or written.
    package private(set) var fault: (any Error)?
    package var isFailed: Bool { fault != nil }
    package private(set) var result = RunResult()
    /// Deliveries that failed for good in this run and were not taken back.
    private var failed: Set<[UInt8]> = []
    private var isEnding = false
    /// Whether the user paused all destinations.
    package private(set) var isPaused = false
    package private(set) var targets: [Int: Target] = [:]
    package private(set) var networkChanges = 0
    private var hasMoved = false
    /// How often others have changed what is due.
    package private(set) var news = 0
    /// The threads: those of one destination are a pool.
    package var pools: [Int: Pool] = [:]
    package var lanes: [Int: Lane] = [:]
    package var lastPool = 0
    /// What waits to be stored.
    package var ended: [Ended] = []
    /// The claims of what is being stored.
    package var underWay: [Claim] = []
    package var writer = Writer()

    package init() {}

    /// The breaker of a destination.
    package subscript(destination: Destination) -> CircuitBreaker {
        get { targets[destination.number]?.breaker ?? CircuitBreaker() }
        set { targets[destination.number, default: Target()].breaker = newValue }
    }

    // MARK: - The run

    /// The run begins, perhaps once more: what was asked of it and what it has done stay, and the rest is new.
    package mutating func starts() {
        let before = exchange(&self, with: RunState())
        (stop, fault, result, failed) = (before.stop, before.fault, before.result, before.failed)
    }

    /// The user asks the run to end; for the second time, or `atOnce`, without a grace period.
    package mutating func stopAsked(atOnce: Bool) { stop = atOnce || stop != .none ? .atOnce : .graceful }

    package mutating func failed(_ error: any Error) { if fault == nil { fault = error } }

    /// The end of the run: nothing new begins from now on.
    package mutating func ends() { isEnding = true }

    /// - Returns: whether that is new.
    package mutating func pauseIs(_ isPaused: Bool) -> Bool { exchange(&self.isPaused, with: isPaused) != isPaused }

    /// An event is reported, and counts for the result.
    package mutating func reported(_ event: QueueEvent) {
        let delivery = Array("\(event.id ?? "") \(event.destination ?? "")".utf8)
        switch event.name {
        case .completed: result.completed += 1
        case .permanentlyFailed, .conflict, .quarantined: failed.insert(delivery)
        case .pending: failed.remove(delivery)
        default: break
        }
        result.failed = failed.count
    }

    /// Others have changed what is due.
    package mutating func newsCame() { news += 1 }

    /// A member of a session landed, or a block ended: other threads may have work now.
    package mutating func moved() { hasMoved = true }

    /// - Returns: whether something moved since the last call.
    package mutating func takeMoved() -> Bool { exchange(&hasMoved, with: false) }

    // MARK: - Destinations

    /// What the database says about a destination, or all of its state if it is new to this run.
    ///
    /// - Returns: `ready` if the user lifted the block of the destination.
    package mutating func adopted(_ destination: Destination, at now: Int) -> CircuitBreaker.Change? {
        let isKnown = targets[destination.number] != nil
        targets[destination.number, default: Target()].name = destination.name
        if isKnown { return self[destination].adopt(isPaused: destination.isPaused, lifts: destination.lifts) }
        self[destination] = CircuitBreaker(
            destination.saved, lifts: destination.lifts, isPaused: destination.isPaused, at: now)
        return nil
    }

    package func permission(_ destination: Destination, at now: Int) -> CircuitBreaker.Permission {
        isEnding || isPaused ? .paused : self[destination].permission(at: now)
    }

    /// A try or a connection is about to begin.
    ///
    /// - Returns: nil if it may not.
    package mutating func begins(_ destination: Destination, at now: Int) -> CircuitBreaker.Ticket? {
        isEnding || isPaused ? nil : self[destination].begin(at: now)
    }

    /// - Returns: the numbers of the destinations that should be connected to now.
    package mutating func networkChanged(at now: Int) -> [Int] {
        networkChanges += 1
        return targets.keys.sorted().filter { targets[$0]?.breaker.networkChanged(at: now) ?? false }
    }

    package mutating func clockWasSet(at now: Int) {
        for number in targets.keys { targets[number]?.breaker.clockWasSet(at: now) }
    }
}
