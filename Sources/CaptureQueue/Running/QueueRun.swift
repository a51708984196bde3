import CaptureBundle
import CaptureNative
import QueueFiles
public import QueueModel

/// Sends the deliveries of a queue (Spec/queue.md section 13). Each transfer has a thread (`SendingThreads`), one more stores
/// their results and claims ahead for them (`ResultWriter`), and the thread that calls `perform` supervises them.
///
/// ```swift
/// let run = QueueRun(queue, options) { event in print(event.name) }
/// let result = try run.perform()
/// ```
public final class QueueRun: Sendable {
    let queue: UploadQueue
    let options: RunOptions
    let owner: RunOwner
    private let started = MonotonicClock.seconds

    /// - Parameter onEvent: called from several threads, but never from two at the same time.
    public init(
        _ queue: UploadQueue, _ options: RunOptions, onEvent: @escaping @Sendable (QueueEvent) -> Void
    ) {
        self.queue = queue
        self.options = options
        let clock = queue.clock
        owner = RunOwner(
            clock: { clock.sinceBoot() }, bytesPerSecond: options.bytesPerSecond, onEvent: onEvent)
    }

    /// Asks the run to end. Transfers under way get a grace period, unless `atOnce` is set or this is the second call.
    public func stop(atOnce: Bool = false) {
        owner.with { $0.stopAsked(atOnce: atOnce) }
        owner.ring()
    }

    /// Whether the run was asked to end, or its `longest` time is over.
    public var isStopped: Bool { owner.with(\.stop) != .none || secondsLeft.map { $0 <= 0 } ?? false }

    /// How much is left of `longest`; nil without a limit.
    var secondsLeft: Double? { options.longest.map { started + $0 / .seconds(1) - MonotonicClock.seconds } }

    /// The transfers under way.
    public var transfers: [TransferProgress] { owner.transfers }

    /// Runs until its mode is satisfied or it is stopped.
    ///
    /// - Throws: `queue.busy` if another run owns the queue; any error that prevents reading or writing the queue.
    public func perform() throws -> RunResult {
        if let readOnly = queue.store.readOnly { throw readOnly }
        let folder = queue.folder
        let lock = try folder.take(folder.runLock, milliseconds: 100, orSay: "another run owns the queue")
        defer { lock.unlock() }
        queue.store.setRunner { self.isEnding }
        defer { queue.store.setRunner(isEnding: nil) }
        let bell = try onFile(folder.bell) { try Doorbell(folder.bell) }
        defer {
            owner.hang(nil)
            bell.remove()
            TransfersFile.remove(folder)
        }
        try queue.store.requireSpool()
        Reserve(folder: folder).createIfMissing()
        try Claims(queue).recover()
        try SessionOutbox(queue: queue).recover()
        // Until now the file was that of the run before.
        defer { BegunClaims.remove(folder) }
        // What lies in the inbox is taken before the run decides what is due.
        let inbox = Inbox(queue, trust: options.trust) { self.isEnding }
        try inbox.refresh()
        inbox.take()
        let returned = try queue.store.returned()
        let first = try queue.store.write { db in
            let now = try queue.clock.observe(db)
            // Their `not_before` counts again with `limitWaits`.
            for delivery in returned { try db.comeBack(delivery, due: now.wall) }
            try db.limitWaits(now, from: now.wall)
            return now
        }
        owner.begin(
            .init(
                ahead: first.wall - (first.memory.looked?.sinceBoot ?? queue.clock.sinceBoot()),
                lead: first.recordTime - first.wall, dueBefore: options.mode == .once ? first.wall : nil))
        owner.hang(bell)
        owner.report(QueueEvent(.started, at: first.wall))
        let writer = try ResultWriter(queue, owner, begun: BegunClaims(in: folder))
        guard writer.start() else {
            throw QueueError(.inputOutput, RunOptions.noThread, of: folder.path)
        }
        defer { writer.end() }
        try RunSupervisor(self, bell: bell, inbox: inbox, writer: writer).supervise()
        let (result, fault) = owner.with { ($0.result, $0.fault) }
        owner.report(.ended) { ($0.completedCount, $0.failedCount) = (result.completed, result.failed) }
        if let fault { throw fault }
        return result
    }

    /// Whether nothing new may begin.
    var isEnding: Bool { isStopped || owner.with(\.isFailed) }
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
