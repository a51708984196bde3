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
package final class RunBoard: Sendable {
    private struct Active {
        let control: SendControl
        let claim: Claim?
        let destination: String
        let started: Double
    }

    private struct State {
        var active: [ObjectIdentifier: Active] = [:]
        var isStopping = false
        var isPaused = false
        var throttles: [String: Throttle] = [:]
        var networkChanges = 0
        var hasSessionMoved = false
        /// Numbers of the destinations that `alone` works with.
        var busy: Set<Int> = []
    }

    private let state = Mutex(State())
    private let clock: @Sendable () -> Int
    private let onEvent: @Sendable (QueueEvent) -> Void
    private let wholeThrottle: Throttle?
    /// Only what was due before is sent, each once; nil for what becomes due, too.
    let dueBefore: Int?

    /// - Parameter clock: Unix milliseconds; never goes back.
    package init(
        clock: @escaping @Sendable () -> Int, dueBefore: Int? = nil, bytesPerSecond: Int? = nil,
        onEvent: @escaping @Sendable (QueueEvent) -> Void
    ) {
        self.clock = clock
        self.dueBefore = dueBefore
        self.onEvent = onEvent
        wholeThrottle = bytesPerSecond.map { Throttle(bytesPerSecond: $0) }
    }

    var now: Int { clock() }
    var isOnce: Bool { dueBefore != nil }

    func tell(_ event: QueueEvent) { onEvent(event) }

    var isStopping: Bool {
        get { state.withLock(\.isStopping) }
        set { state.withLock { $0.isStopping = newValue } }
    }

    var isPaused: Bool {
        get { state.withLock(\.isPaused) }
        set { state.withLock { $0.isPaused = newValue } }
    }

    func networkChanged() { state.withLock { $0.networkChanges += 1 } }

    /// A member of a session landed: its end may be due, for other destinations too.
    func sessionMoved() { state.withLock { $0.hasSessionMoved = true } }

    func takeSessionMoved() -> Bool {
        state.withLock { state in
            defer { state.hasSessionMoved = false }
            return state.hasSessionMoved
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
            if let limit = destination.settings["bwlimit"].flatMap(ByteSize.bytes) {
                let key = "\(destination.name) \(limit)"
                let shared = state.throttles[key] ?? Throttle(bytesPerSecond: limit)
                state.throttles[key] = shared
                throttles.append(shared)
            }
            let control = SendControl(throttles, network: state.networkChanges)
            state.active[ObjectIdentifier(control)] = Active(
                control: control, claim: claim, destination: destination.name, started: MonotonicClock.seconds)
            return control
        }
    }

    func done(_ control: SendControl) {
        state.withLock { $0.active[ObjectIdentifier(control)] = nil }
    }

    /// Ends what is under way: all of it, or what `chosen` says.
    func stopTransfers(_ cause: String, where chosen: (Claim?, String) -> Bool = { _, _ in true }) {
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
                        id: claim.capture.id, destination: active.destination, sent: progress.sent,
                        bytes: progress.whole, started: active.started)
                }
            }
        }
        .sorted { ($0.started, $0.id) < ($1.started, $1.id) }
    }
}
