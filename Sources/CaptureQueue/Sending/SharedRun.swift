import CaptureBundle
import CaptureNative
import QueueModel
import QueueTransports
import Synchronization

/// What a transfer has sent so far.
public struct TransferProgress: Hashable, Sendable {
    public let id: String
    public let destination: String
    public let sent: Int
    /// 0 before it is known.
    public let bytes: Int
    /// Seconds of the monotonic clock.
    public let started: Double
}

/// What the threads of a run share.
package final class SharedRun: Sendable {
    private struct Active {
        let control: SendControl
        let claim: Claim?
        /// Its number.
        let destination: Int
        let started: Double
    }

    private struct State {
        var active: [ObjectIdentifier: Active] = [:]
        var run = RunState()
        var throttles: [String: Throttle] = [:]
        /// By number of the destination: the user may rename it meanwhile.
        var names: [Int: String] = [:]
        var networkChanges = 0
        var hasMoved = false
        /// Numbers of the destinations that `alone` works with.
        var busy: Set<Int> = []
    }

    private let state = Mutex(State())
    private let clock: @Sendable () -> Int
    private let onEvent: @Sendable (QueueEvent) -> Void
    private let onMove: @Sendable () -> Void
    private let wholeThrottle: Throttle?
    /// Only what was due before is sent, each once; nil for what becomes due, too.
    let dueBefore: Int?

    /// - Parameters:
    ///   - clock: Unix milliseconds; never goes back.
    ///   - onMove: called when threads that wait should look again at what there is to do.
    package init(
        clock: @escaping @Sendable () -> Int, dueBefore: Int? = nil, bytesPerSecond: Int? = nil,
        onEvent: @escaping @Sendable (QueueEvent) -> Void, onMove: @escaping @Sendable () -> Void = {}
    ) {
        self.clock = clock
        self.dueBefore = dueBefore
        self.onEvent = onEvent
        self.onMove = onMove
        wholeThrottle = bytesPerSecond.map { Throttle(bytesPerSecond: $0) }
    }

    var now: Int { clock() }
    var isOnce: Bool { dueBefore != nil }

    func tell(_ event: QueueEvent) { onEvent(event) }

    // MARK: - What may be done

    var isStopping: Bool {
        get { state.withLock(\.run.isStopping) }
        set { state.withLock { $0.run.isStopping = newValue } }
    }

    var isPaused: Bool {
        get { state.withLock(\.run.isPaused) }
        set { state.withLock { $0.run.isPaused = newValue } }
    }

    func permission(_ destination: Destination) -> DestinationState.Permission {
        state.withLock { $0.run.permission(destination.number, at: now) }
    }

    func begin(_ destination: Destination) -> DestinationState.Ticket? {
        state.withLock { $0.run.begin(destination.number, at: now) }
    }

    /// How a destination stands.
    package func standing(_ destination: Destination) -> DestinationState {
        state.withLock { $0.run[destination.number] }
    }

    /// The name that it has now.
    func name(_ destination: Destination) -> String {
        state.withLock { $0.names[destination.number] } ?? destination.name
    }

    /// Changes how a destination stands.
    func change<Result>(_ destination: Destination, _ change: (inout DestinationState) -> Result) -> Result {
        state.withLock { change(&$0.run[destination.number]) }
    }

    /// Takes up a destination: as the database has it, where this run has not met it yet.
    ///
    /// - Returns: whether the user lifted what blocked it.
    package func adopt(_ destination: Destination) -> DestinationState.Change? {
        state.withLock { state in
            state.names[destination.number] = destination.name
            guard state.run.knows(destination.number) else {
                state.run[destination.number] = DestinationState(
                    destination.saved, lifts: destination.lifts, isPaused: destination.isPaused, at: now)
                return nil
            }
            return state.run[destination.number].adopt(isPaused: destination.isPaused, lifts: destination.lifts)
        }
    }

    /// - Returns: numbers of the destinations that are connected to now.
    @discardableResult
    package func networkChanged() -> [Int] {
        state.withLock { state in
            state.networkChanges += 1
            return state.run.networkChanged(at: now)
        }
    }

    /// Something happened that other threads wait for: a member of a session landed, or a destination goes on.
    func moved() {
        state.withLock { $0.hasMoved = true }
        onMove()
    }

    func takeMoved() -> Bool {
        state.withLock { state in
            defer { state.hasMoved = false }
            return state.hasMoved
        }
    }

    /// Does work that only one thread may do for a destination, and that no database claim protects.
    ///
    /// A run owns its queue, so nobody else does it either; after a crash the next run does it again.
    ///
    /// - Returns: nil where another thread is at work with this destination; then nothing was done.
    func alone<Result>(with destination: Destination, _ work: () throws -> Result) rethrows -> Result? {
        guard state.withLock({ $0.busy.insert(destination.number).inserted }) else { return nil }
        defer { state.withLock { _ = $0.busy.remove(destination.number) } }
        return try work()
    }

    // MARK: - Transfers

    /// For something that is about to be done; `done` ends it.
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

    /// Ends what is under way: all of it, or what `chosen` says.
    func stopTransfers(_ cause: String, where chosen: (Claim?, Int) -> Bool = { _, _ in true }) {
        state.withLock { state in
            for active in state.active.values where chosen(active.claim, active.destination) {
                active.control.stop(cause)
            }
        }
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
