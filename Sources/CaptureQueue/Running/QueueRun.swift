import CaptureBundle
import CaptureNative
import QueueFiles
public import QueueModel
import Synchronization

/// Sends the deliveries of a queue (Spec/queue.md section 13). Each transfer has a thread, and one more supervises
/// them.
///
/// ```swift
/// let run = QueueRun(queue, options) { event in print(event.name) }
/// let result = try run.perform()
/// ```
public final class QueueRun: Sendable {
    private struct State {
        var stop = StopRequest.none
        var sending: SendingState?
        var bell: Doorbell?
        var result = RunResult()
        /// Deliveries that failed for good in this run and were not taken back.
        var failed: Set<[UInt8]> = []
        var fault: (any Error)?
    }

    private let queue: UploadQueue
    private let options: RunOptions
    private let state = Mutex(State())
    private let onEvent: @Sendable (QueueEvent) -> Void
    private let started = MonotonicClock.seconds
    /// The time of the last event.
    private let last = Mutex(CaptureTime(clamping: 0))

    /// - Parameter onEvent: called from several threads, but never from two at the same time.
    public init(
        _ queue: UploadQueue, _ options: RunOptions, onEvent: @escaping @Sendable (QueueEvent) -> Void
    ) {
        self.queue = queue
        self.options = options
        self.onEvent = onEvent
    }

    /// Asks the run to end. Transfers under way get a grace period, unless `atOnce` is set or this is the second call.
    public func stop(atOnce: Bool = false) {
        state.withLock { state in
            state.stop = atOnce || state.stop != .none ? .atOnce : .graceful
            state.bell?.ring()
        }
    }

    /// Whether the run was asked to end, or its `longest` time is over.
    public var isStopped: Bool { stopRequest != .none || secondsLeft.map { $0 <= 0 } ?? false }

    /// How much is left of `longest`; nil without a limit.
    var secondsLeft: Double? { options.longest.map { started + $0 / .seconds(1) - MonotonicClock.seconds } }

    /// The transfers under way.
    public var transfers: [TransferProgress] { state.withLock(\.sending)?.transfers ?? [] }

    /// Runs until its mode is satisfied or it is stopped.
    ///
    /// - Throws: `queue.busy` if another run owns the queue; any error that prevents reading or writing the queue.
    public func perform() throws -> RunResult {
        if let readOnly = queue.store.readOnly { throw readOnly }
        let folder = queue.folder
        let taken = try onFile(folder.runLock) { try FileLock.take(folder.runLock, milliseconds: 100) }
        guard let lock = taken else { throw QueueError(.busy, "another run owns the queue", of: folder.path) }
        defer { lock.unlock() }
        queue.store.setRunner { self.isEnding }
        defer { queue.store.setRunner(isEnding: nil) }
        let bell = try onFile(folder.bell) { try Doorbell(folder.bell) }
        defer {
            state.withLock { $0.bell = nil }
            bell.remove()
            TransfersFile.remove(folder)
        }
        try queue.store.requireSpool()
        Reserve(folder: folder).createIfMissing()
        try Claims(queue).recover()
        try SessionOutbox(queue: queue).recover()
        // Until now the file was that of the run before.
        defer { BegunClaims.remove(folder) }
        let inbox = try takeInbox()
        let returned = try queue.store.returned()
        let first = try queue.store.write { db in
            let now = try queue.clock.look(db)
            try db.comeBack(returned, at: now.wall)
            try db.limitWaits(now, from: now.wall)
            return now
        }
        let sending = SendingState(
            clock: clock(from: first), lead: first.stamp - first.wall,
            dueBefore: options.mode == .once ? first.wall : nil, bytesPerSecond: options.bytesPerSecond, onEvent: count,
            onMove: { bell.ring() })
        state.withLock { ($0.bell, $0.sending) = (bell, sending) }
        defer { state.withLock { $0.sending = nil } }
        sending.tell(QueueEvent(.started, at: first.wall))
        let writer = try ResultWriter(queue, sending, BegunClaims(in: folder))
        guard writer.start() else {
            throw QueueError(.inputOutput, RunOptions.noThread, of: folder.path)
        }
        defer { writer.end() }
        try RunSupervisor(queue, options, sending, bell, inbox, self, writer).supervise()
        return try finish(sending)
    }

    /// Takes what lies in the inbox before the run decides what is due.
    private func takeInbox() throws -> Inbox {
        let inbox = Inbox(queue, trust: options.trust) { self.isEnding }
        try inbox.refresh()
        inbox.take()
        return inbox
    }

    private func finish(_ sending: SendingState) throws -> RunResult {
        let (result, fault) = state.withLock { state in
            state.result.failed = state.failed.count
            return (state.result, state.fault)
        }
        sending.tell(.ended) { ($0.completedCount, $0.failedCount) = (result.completed, result.failed) }
        if let fault { throw fault }
        return result
    }

    var stopRequest: StopRequest { state.withLock(\.stop) }
    var isFailed: Bool { state.withLock { $0.fault != nil } }
    /// Whether nothing new may begin.
    var isEnding: Bool { isStopped || isFailed }

    /// Ends the run because the queue cannot be read or written. The first such error is kept.
    func fail(_ error: any Error) {
        state.withLock { state in
            if state.fault == nil { state.fault = error }
            state.bell?.ring()
        }
    }

    private func count(_ event: QueueEvent) {
        state.withLock { state in
            switch event.name {
            case .completed: state.result.completed += 1
            case .permanentlyFailed, .conflict, .quarantined: state.failed.insert(Self.delivery(event))
            case .pending: state.failed.remove(Self.delivery(event))
            default: break
            }
        }
        // One at a time, with times that never go back.
        last.withLock { last in
            last = max(event.at, last)
            var event = event
            event.at = last
            onEvent(event)
        }
    }

    private static func delivery(_ event: QueueEvent) -> [UInt8] {
        Array("\(event.id ?? "") \(event.destination ?? "")".utf8)
    }

    /// Makes a clock in Unix milliseconds that begins at `start` and ignores later changes of the wall clock.
    private func clock(from start: QueueClock.Reading) -> @Sendable () -> Int {
        let clock = queue.clock
        let begun = start.memory.looked?.sinceBoot ?? clock.sinceBoot()
        return { start.wall + clock.sinceBoot() - begun }
    }
}

extension UploadQueue {
    /// Sends the waiting deliveries as `options` say. Use `QueueRun` to stop or watch the run.
    ///
    /// - Throws: as `QueueRun.perform`.
    @discardableResult
    public func run(
        _ options: RunOptions = RunOptions(), onEvent: @escaping @Sendable (QueueEvent) -> Void = { _ in }
    ) throws -> RunResult {
        try QueueRun(self, options, onEvent: onEvent).perform()
    }
}

enum StopRequest { case none, graceful, atOnce }
