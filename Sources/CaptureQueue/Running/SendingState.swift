import CaptureNative
package import QueueModel
import QueueTransports
import Synchronization

/// The progress of a transfer.
public struct TransferProgress: Hashable, Sendable {
    public let id: String
    public let destination: String
    public let sent: Int
    /// The size in bytes; 0 while it is unknown.
    public let bytes: Int
    /// The start, in seconds of the monotonic clock.
    package let started: Double
}

/// The state that the threads of a run share.
package final class SendingState: Sendable {
    private struct Active {
        let control: SendControl
        let claim: Claim?
        let destination: Int
        let started: Double
    }

    private struct State {
        var active: [ObjectIdentifier: Active] = [:]
        var isStopping = false
        /// Whether the user paused all destinations.
        var isPaused = false
        var destinations: [Int: DestinationState] = [:]
        var throttles: [String: Throttle] = [:]
        /// The current names of the destinations by number, because the user may rename one during the run.
        var names: [Int: String] = [:]
        var networkChanges = 0
        var hasMoved = false
        var news = 0
        /// The numbers of the destinations for which `alone` runs.
        var busy: Set<Int> = []

        subscript(number: Int) -> DestinationState {
            get { destinations[number] ?? DestinationState() }
            set { destinations[number] = newValue }
        }
    }

    private let state = Mutex(State())
    private let clock: @Sendable () -> Int
    /// How far stamps were ahead of the wall clock when the run started.
    private let lead: Int
    private let onEvent: @Sendable (QueueEvent) -> Void
    private let onMove: @Sendable () -> Void
    private let wholeThrottle: Throttle?
    /// If set, only deliveries due before this time are sent, each once; nil to send also what becomes due later.
    let dueBefore: Int?

    /// - Parameters:
    ///   - clock: returns Unix milliseconds and never goes back.
    ///   - lead: how far stamps are ahead of that.
    ///   - onMove: called when waiting threads should check again for work.
    package init(
        clock: @escaping @Sendable () -> Int, lead: Int = 0, dueBefore: Int? = nil, bytesPerSecond: Int? = nil,
        onEvent: @escaping @Sendable (QueueEvent) -> Void, onMove: @escaping @Sendable () -> Void = {}
    ) {
        self.clock = clock
        self.lead = lead
        self.dueBefore = dueBefore
        self.onEvent = onEvent
        self.onMove = onMove
        wholeThrottle = bytesPerSecond.map { Throttle(bytesPerSecond: $0) }
    }

    var now: Int { clock() }
    var time: RunTime {
        let now = clock()
        return RunTime(wall: now, stamp: now + lead)
    }

    func tell(_ event: QueueEvent) { onEvent(event) }

    /// Reports what happens now, to one destination or to all.
    func tell(
        _ name: QueueEvent.Name, _ destination: Destination? = nil, _ message: String? = nil,
        _ add: (inout QueueEvent) -> Void = { _ in }
    ) {
        var event = QueueEvent(name, at: now, destination: destination.map(self.name), message: message)
        add(&event)
        onEvent(event)
    }

    // MARK: - What may be done

    /// Begins nothing new from now on.
    func stop() { state.withLock { $0.isStopping = true } }

    var isPaused: Bool {
        get { state.withLock(\.isPaused) }
        set { state.withLock { $0.isPaused = newValue } }
    }

    func permission(_ destination: Destination) -> DestinationState.Permission {
        state.withLock { state in
            state.isStopping || state.isPaused ? .paused : state[destination.number].permission(at: now)
        }
    }

    func begin(_ destination: Destination) -> DestinationState.Ticket? {
        state.withLock { state in
            state.isStopping || state.isPaused ? nil : state[destination.number].begin(at: now)
        }
    }

    package func standing(_ destination: Destination) -> DestinationState {
        state.withLock { $0[destination.number] }
    }

    func name(_ destination: Destination) -> String {
        state.withLock { $0.names[destination.number] } ?? destination.name
    }

    func change<Result>(_ destination: Destination, _ change: (inout DestinationState) -> Result) -> Result {
        state.withLock { change(&$0[destination.number]) }
    }

    /// Takes over what the database says about a destination, or all of its state if it is new to this run.
    ///
    /// - Returns: `ready` if the user lifted the block of the destination.
    package func adopt(_ destination: Destination) -> DestinationState.Change? {
        state.withLock { state in
            state.names[destination.number] = destination.name
            guard state.destinations[destination.number] != nil else {
                state[destination.number] = DestinationState(
                    destination.saved, lifts: destination.lifts, isPaused: destination.isPaused, at: now)
                return nil
            }
            return state[destination.number].adopt(isPaused: destination.isPaused, lifts: destination.lifts)
        }
    }

    /// - Returns: the numbers of the destinations that should be connected to now.
    @discardableResult
    package func networkChanged() -> [Int] {
        state.withLock { state in
            state.networkChanges += 1
            return state.destinations.keys.sorted().filter { state.destinations[$0]?.networkChanged(at: now) ?? false }
        }
    }

    func clockWasSet() {
        state.withLock { state in
            for number in state.destinations.keys { state.destinations[number]?.clockWasSet(at: now) }
        }
    }

    /// Reports what other threads wait for: a member of a session has landed, or a destination is no longer blocked.
    func moved() {
        state.withLock { $0.hasMoved = true }
        onMove()
    }

    /// How often others have changed what is due.
    var news: Int { state.withLock(\.news) }

    func addNews() { state.withLock { $0.news += 1 } }

    func takeMoved() -> Bool {
        state.withLock { state in
            defer { state.hasMoved = false }
            return state.hasMoved
        }
    }

    /// Does work that only one thread may do for a destination, and that no claim in the database protects.
    ///
    /// A run owns its queue, so no other process does the work either. After a crash the next run does it again.
    ///
    /// - Returns: nil if another thread is doing such work for this destination; then nothing was done.
    func alone<Result>(with destination: Destination, _ work: () throws -> Result) rethrows -> Result? {
        guard state.withLock({ $0.busy.insert(destination.number).inserted }) else { return nil }
        defer { state.withLock { _ = $0.busy.remove(destination.number) } }
        return try work()
    }

    // MARK: - Transfers

    /// Registers a transfer, or a request without a claim, until `done` is called.
    func control(for claim: Claim?, _ destination: Destination) -> SendControl {
        state.withLock { state in
            var throttles = [wholeThrottle].compactMap(\.self)
            if let limit = destination.pace.bytesPerSecond {
                let key = "\(destination.number) \(limit)"
                let shared = state.throttles[key] ?? Throttle(bytesPerSecond: limit)
                state.throttles[key] = shared
                throttles.append(shared)
            }
            let control = SendControl(throttles, network: state.networkChanges)
            state.active[ObjectIdentifier(control)] = Active(
                control: control, claim: claim, destination: destination.number, started: MonotonicClock.seconds)
            return control
        }
    }

    func done(_ control: SendControl) {
        state.withLock { $0.active[ObjectIdentifier(control)] = nil }
    }

    /// Stops all transfers, or those for which `chosen` returns true.
    func stopTransfers(_ cause: String, code: String? = nil, where chosen: (Claim?, Int) -> Bool = { _, _ in true }) {
        state.withLock { state in
            for active in state.active.values where chosen(active.claim, active.destination) {
                active.control.stop(cause, code: code)
            }
        }
    }

    /// Stops the transfers that only wait until they may begin.
    func stopWaiting(_ cause: String) {
        state.withLock { state in for active in state.active.values { active.control.stopWaiting(cause) } }
    }

    var claims: [Claim] { state.withLock { $0.active.values.compactMap(\.claim) } }

    var transfers: [TransferProgress] {
        state.withLock { state in
            state.active.values.compactMap { active in
                active.claim.map { claim in
                    let progress = active.control.progress
                    return TransferProgress(
                        id: claim.capture.id, destination: state.names[active.destination] ?? "", sent: progress.sent,
                        bytes: progress.whole, started: active.started)
                }
            }
        }
        .sorted { ($0.started, $0.id) < ($1.started, $1.id) }
    }
}
