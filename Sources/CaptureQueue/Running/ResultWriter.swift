import CaptureBundle
import CaptureNative
import GRDB
import QueueFiles
import QueueModel
import QueueTransports

/// Stores the results of all lanes of a run, and claims ahead for them, on a thread of its own (RunState+Lanes).
final class ResultWriter: Sendable {
    private let queue: UploadQueue
    private var claims: Claims { Claims(queue) }
    private let owner: RunOwner
    private let begun: BegunClaims?
    private let signal = Signal()

    /// - Parameter begun: tells which claims have begun; nil for a writer without a thread: each call then stores at once, and
    ///   nothing else may use the queue at the same time.
    init(_ queue: UploadQueue, _ owner: RunOwner, begun: BegunClaims?) {
        (self.queue, self.owner, self.begun) = (queue, owner, begun)
    }

    private var hasThread: Bool { begun != nil }

    // MARK: - For lanes

    /// Takes what was claimed for the lane. If nothing was, it waits until the lane's results are stored, and may then take
    /// what was claimed for a lane that still sends.
    ///
    /// - Parameter begins: false if the lane takes the claim only to give it back; then the writer does not wait for it.
    /// - Throws: the error for which the writer could not store a result.
    func takeNext(_ lane: Int, begins: Bool = true) throws -> RunState.Ahead? {
        if case .success(.some(let next)) = owner.with({ $0.nextAsked(lane, begins: begins) }) { return next }
        // The writer no longer waits for this lane.
        raise()
        return try signal.wait { owner.with { $0.nextAsked(lane, begins: begins) } }.get()
    }

    /// Records that a claim begins, and has the next delivery claimed.
    func begins(_ claim: Claim, _ lane: Int) throws(QueueError) {
        let slot = owner.with { $0.sendingBegins(claim, lane) }
        // Even after an error: the lane waits for what it asked for.
        defer { raise() }
        try onFile(queue.folder.begunFile) { try begun?.begin(claim.token, slot: slot) }
    }

    /// Hands in a try that has ended.
    func ended(_ result: RunState.Ended, _ lane: Int) {
        owner.with { $0.sendingEnded(result, lane) }
        raise()
    }

    /// Lets the writer store without waiting for this lane.
    func pauses(_ lane: Int) {
        owner.with { $0.lanePauses(lane) }
        raise()
    }

    /// Looks again at what the lanes may send, and gives back what was claimed ahead for those that may not.
    func wake() {
        owner.with { $0.writerIsWoken() }
        raise()
    }

    private func raise() {
        if hasThread { signal.raise() } else if owner.with(\.writerGoesOn) == true { storeAll() }
    }

    // MARK: - The thread

    /// Starts the thread; false if the system cannot start one.
    func start() -> Bool {
        Thread.start { [owner, signal] in
            while signal.wait({ owner.with(\.writerGoesOn) }) { self.storeAll() }
            owner.with { $0.writerEnded() }
            signal.raise()
        }
    }

    /// Ends the thread, after all lanes have left.
    func end() {
        owner.with { $0.writerEnds() }
        signal.raise()
        _ = signal.wait { owner.with { $0.writer.isOver ? true : nil } }
    }

    /// Stores what waits, in one transaction.
    private func storeAll() {
        let hasRoom = queue.store.hasRoom(forOutcomes: owner.unstored + 1)
        let batch = owner.withTime { $0.storingBegins(hasRoom: hasRoom, at: $1) }
        let stored = batch.isEmpty ? .success(Stored()) : Result { try queue.store.turn { try store(batch, $0) } }
        if case .success(let stored) = stored {
            for (ended, settled) in zip(batch.ended, stored.settled) { report(ended, settled) }
        }
        owner.with { $0.storingEnded(batch, stored.map(\.claimed)) }
        if !batch.returned.isEmpty { owner.ring() }
        signal.raise()
        if case .success(let stored) = stored, hasThread { stored.claimed.forEach(layOut) }
    }

    /// Reports a try once it is stored.
    ///
    /// - Parameter settled: nil if the claim was lost.
    private func report(_ ended: RunState.Ended, _ settled: AttemptResult?) {
        let (claim, change) = (ended.claim, ended.context.verdict.change)
        guard let settled else { return owner.report(change, claim.destination) }
        if claim.capture.session != nil { owner.moved() }
        owner.report(change, claim.destination, settled.takenBack)
        let name = QueueEvent.Name(rawValue: settled.state.rawValue) ?? .pending
        owner.report(name, claim.capture, claim.destination, at: ended.at) { event in
            event.attempt = claim.attempt
            event.describe(ended.outcome)
            if let root = settled.absent { (event.code, event.message) = (Absence.code, Absence.message(root)) }
            event.state = settled.state
            event.until = settled.dueAt.map { CaptureTime(clamping: $0) }
            event.bytesSent = ended.context.bytesSent
            event.time = .seconds(ended.seconds)
        }
    }

    /// Computes the layout of an upload body while the lane still sends another. An idle lane computes its own.
    private func layOut(_ lane: Int, _ claim: Claim) {
        guard owner.with({ $0.lanes[lane]?.isSending ?? false }),
            let layout = SendJob(claim, now: 0, queue).layoutAhead(for: claim.destination)
        else { return }
        owner.with { $0.layoutMade(layout, of: claim, lane) }
    }

    private struct Stored {
        var settled: [AttemptResult?] = []
        /// The new claims by lane.
        var claimed: [Int: Claim] = [:]
    }

    private func store(_ batch: RunState.Batch, _ turn: QueueStore.WriterTurn) throws -> Stored {
        if !batch.returned.isEmpty {
            try turn.write { db in for claim in batch.returned { try claims.giveBack(claim, db) } }
        }
        let aside = try batch.ended.map { ended -> AttemptResult? in
            guard case .damaged(let message) = ended.outcome else { return nil }
            return try claims.setAside(ended.claim, after: ended.outcome, message, at: owner.time, in: turn)
        }
        let contexts = batch.ended.map { context($0.context, of: $0.claim.capture, at: $0.claim.destination) }
        return try turn.write { db in
            var stored = Stored()
            for (number, ended) in batch.ended.enumerated() {
                stored.settled.append(
                    try aside[number] ?? claims.settle(ended.claim, with: ended.outcome, contexts[number], in: db))
            }
            for (lane, destination, sent) in batch.claiming {
                let time = try queue.clock.observe(db).time(in: owner.time)
                stored.claimed[lane] = try claims.next(
                    for: destination, after: sent, dueBefore: owner.dueBefore, at: time, db)
            }
            return stored
        }
    }

    /// Adds what the destination's state says now. Call it only with the turn to write: the threads get their turns in any
    /// order, and the last one stores the state.
    func context(_ known: AttemptContext, of capture: CaptureRecord, at destination: Destination) -> AttemptContext {
        var context = known
        context.time = owner.time
        owner.change(destination) { breaker in
            context.isTakenBack = breaker.takesBack(capture.sequence)
            context.unsaved = breaker.takeUnsaved()
        }
        return context
    }
}
