import CaptureBundle
import CaptureNative
import QueueModel
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

/// Holds the state of a run for its threads, with what the state cannot hold: the clock, the bell and the transfers' controls.
final class RunOwner: Sendable {
    private struct Held {
        var state = RunState()
        var transfers: [ObjectIdentifier: Transfer] = [:]
        /// The destinations for which a thread does work that only one may do.
        var busy: Set<Int> = []
        var throttles: [String: Throttle] = [:]
        var bell: Doorbell?
        var start = Start()

        var sent: [Claim] { transfers.values.compactMap(\.claim) }
    }

    /// A request to a destination, with the claim of the delivery if it sends one.
    struct Transfer {
        let claim: Claim?
        let destination: Int
        /// Seconds of the monotonic clock.
        let started: Double
        let control: SendControl
    }

    /// What the run has read when it began.
    struct Start {
        /// How far its time is ahead of the clock.
        var ahead = 0
        /// How far the times of records are ahead of its time.
        var lead = 0
        /// If set, only deliveries due before this time are sent, each once; nil to send also what becomes due later.
        var dueBefore: Int?
    }

    private let held = Mutex(Held())
    private let clock: @Sendable () -> Int
    private let wholeThrottle: Throttle?
    private let onEvent: @Sendable (QueueEvent) -> Void
    /// The time of the last event.
    private let last = Mutex(CaptureTime(clamping: 0))

    /// - Parameters:
    ///   - clock: returns milliseconds and never goes back.
    ///   - onEvent: called from several threads, but never from two at the same time.
    init(
        clock: @escaping @Sendable () -> Int, bytesPerSecond: Int? = nil,
        onEvent: @escaping @Sendable (QueueEvent) -> Void
    ) {
        self.clock = clock
        self.onEvent = onEvent
        wholeThrottle = bytesPerSecond.map { Throttle(bytesPerSecond: $0) }
    }

    /// Brings an event to the state. Do not use the owner inside.
    func with<Result>(_ event: (inout RunState) -> Result) -> Result { held.withLock { event(&$0.state) } }

    /// Does the same with the time, in Unix milliseconds.
    func withTime<Result>(_ event: (inout RunState, Int) -> Result) -> Result {
        held.withLock { event(&$0.state, clock() + $0.start.ahead) }
    }

    // MARK: - Time and reports

    func begin(_ start: Start) {
        held.withLock { held in
            held.start = start
            held.state.starts()
        }
    }

    /// Unix milliseconds.
    var now: Int { withTime { $1 } }
    var time: RunTime {
        let (wall, lead) = (now, held.withLock(\.start.lead))
        return RunTime(wall: wall, recordTime: wall + lead)
    }
    var dueBefore: Int? { held.withLock(\.start.dueBefore) }
    /// Until when an end of a session must be due to be reported. A run for what is due now reports each once, even if storing
    /// its answer takes longer than the wait before the next try.
    var dueUntil: Int { min(now, dueBefore ?? .max) }

    /// Reports an event: one at a time, with times that never go back.
    func report(_ event: QueueEvent) {
        with { $0.reported(event) }
        last.withLock { last in
            last = max(event.at, last)
            var event = event
            event.at = last
            onEvent(event)
        }
    }

    /// Reports what happens now, to one destination or to all.
    func report(
        _ name: QueueEvent.Name, _ destination: Destination? = nil, _ message: String? = nil,
        _ add: (inout QueueEvent) -> Void = { _ in }
    ) {
        var event = QueueEvent(name, at: now, destination: destination.map(self.name), message: message)
        add(&event)
        report(event)
    }

    func name(_ destination: Destination) -> String {
        with { $0.targets[destination.number]?.name } ?? destination.name
    }

    // MARK: - The bell of the supervisor

    func hang(_ bell: Doorbell?) { held.withLock { $0.bell = bell } }

    func ring() { held.withLock(\.bell)?.ring() }

    /// Other threads may have work now.
    func moved() {
        with { $0.moved() }
        ring()
    }

    /// Ends the run because the queue cannot be read or written.
    func fail(_ error: any Error) {
        with { $0.failed(error) }
        ring()
    }

    // MARK: - Destinations

    func breaker(of destination: Destination) -> CircuitBreaker { with { $0[destination] } }

    @discardableResult
    func change<Result>(_ destination: Destination, _ change: (inout CircuitBreaker) -> Result) -> Result {
        with { change(&$0[destination]) }
    }

    /// Does work that only one thread may do for a destination, and that no claim in the database protects.
    ///
    /// A run owns its queue, so no other process does the work either. After a crash the next run does it again.
    ///
    /// - Returns: nil if another thread is doing such work for this destination; then nothing was done.
    func alone<Result>(with destination: Destination, _ work: () throws -> Result) rethrows -> Result? {
        guard held.withLock({ $0.busy.insert(destination.number).inserted }) else { return nil }
        defer { held.withLock { _ = $0.busy.remove(destination.number) } }
        return try work()
    }

    // MARK: - Transfers

    /// Does what needs a request, with a control by which it can be stopped.
    func transferring<Result>(
        _ claim: Claim?, to destination: Destination, _ work: (SendControl) throws -> Result
    ) rethrows -> Result {
        let control = held.withLock { held in
            var throttles = [wholeThrottle].compactMap(\.self)
            if let limit = destination.pace.bytesPerSecond {
                let key = "\(destination.number) \(limit)"
                let shared = held.throttles[key] ?? Throttle(bytesPerSecond: limit)
                held.throttles[key] = shared
                throttles.append(shared)
            }
            let control = SendControl(throttles, network: held.state.networkChanges)
            held.transfers[ObjectIdentifier(control)] = Transfer(
                claim: claim, destination: destination.number, started: MonotonicClock.seconds, control: control)
            return control
        }
        defer { held.withLock { $0.transfers[ObjectIdentifier(control)] = nil } }
        return try work(control)
    }

    /// The claims that are being sent.
    var sent: [Claim] { held.withLock(\.sent) }

    /// How many results are not stored yet: of what is sent, and of what was claimed for that.
    var unstored: Int { held.withLock { $0.sent.count + $0.state.waiting.count } }

    /// Stops all transfers, or those for which `chosen` returns true.
    func stopTransfers(_ cause: String, code: String? = nil, where chosen: (Transfer) -> Bool = { _ in true }) {
        held.withLock { held in
            for transfer in held.transfers.values where chosen(transfer) { transfer.control.stop(cause, code: code) }
        }
    }

    /// Stops the transfers that only wait until they may begin.
    func stopWaiting(_ cause: String) {
        held.withLock { held in for transfer in held.transfers.values { transfer.control.stopWaiting(cause) } }
    }

    var transfers: [TransferProgress] {
        held.withLock { held in
            held.transfers.values.compactMap { transfer in
                guard let claim = transfer.claim else { return nil }
                let progress = transfer.control.progress
                return TransferProgress(
                    id: claim.capture.id, destination: held.state.targets[transfer.destination]?.name ?? "",
                    sent: progress.sent, bytes: progress.whole, started: transfer.started)
            }
        }
        .sorted { ($0.started, $0.id) < ($1.started, $1.id) }
    }
}
