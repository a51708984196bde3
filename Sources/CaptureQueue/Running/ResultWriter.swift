import CaptureBundle
import CaptureNative
import GRDB
import QueueFiles
import QueueModel
import QueueTransports
import Synchronization

/// Stores the results of all lanes of a run, and claims ahead for them (Spec/queue.md section 6).
///
/// A lane is one thread of a destination. While it sends, its next delivery is claimed in one transaction with all results
/// that wait. So lanes do not wait for the disk, and one sync serves all of them.
package final class ResultWriter: Sendable {
    /// A try that has ended.
    struct Ended: Sendable {
        let claim: Claim
        let outcome: SendOutcome
        var context: AttemptContext
        /// Reports the result once it is stored; nil if the claim was lost.
        let tell: @Sendable (AttemptResult?) -> Void
    }

    /// A delivery that was claimed ahead.
    struct Ahead {
        let claim: Claim
        /// The number of the news that the claim knew.
        let news: Int
        /// The layout of the upload body, once it is known.
        var layout: BodyLayout?
    }

    private struct Lane {
        let destination: Destination
        /// The session of the delivery that is being sent, or was taken for that. The next member can be claimed when this one
        /// is settled.
        var session: String?
        var isSending = false
        /// Whether the last delivery had no bytes. Then others may wait for the same folder, and so may what was claimed ahead.
        var lacksBytes = false
        var next: Ahead?
        /// How often the lane asked for something, and how often it was served.
        var asked = 0
        var served = 0
        var fault: (any Error)?
        /// Whether the lane ends, for example because the settings of the destination have changed.
        var isRetired = false
        /// Which of its two slots in `BegunClaims` the next claim gets.
        var slot = 0

        /// Whether it has nothing to send and was told so.
        var isIdle: Bool { !isSending && next == nil && asked == served }
    }

    private struct State {
        var lanes: [Int: Lane] = [:]
        var ended: [(lane: Int, result: Ended)] = []
        var isAwake = false
        var isEnding = false
        var isOver = false
        /// The results that are being stored.
        var underWay: [Claim] = []
    }

    private let queue: UploadQueue
    private let claims: Claims
    private let sending: SendingState
    private let begun: BegunClaims?
    private let state = Mutex(State())
    private let signal = Signal()
    private let hasThread: Bool

    /// - Parameter begun: nil if no file tells which claims have begun.
    init(_ queue: UploadQueue, _ sending: SendingState, _ begun: BegunClaims?) {
        (self.queue, self.sending, self.begun) = (queue, sending, begun)
        claims = Claims(queue)
        hasThread = true
    }

    /// Makes a writer without a thread: each call stores at once. Nothing else may use the queue at the same time.
    package init(inlineFor queue: UploadQueue, _ sending: SendingState) {
        (self.queue, self.sending, begun) = (queue, sending, nil)
        claims = Claims(queue)
        hasThread = false
    }

    // MARK: - For lanes

    /// Adds a lane and returns its number.
    func join(_ destination: Destination) -> Int {
        state.withLock { state in
            let number = (0...).first { state.lanes[$0] == nil } ?? 0
            state.lanes[number] = Lane(destination: destination)
            return number
        }
    }

    /// Claims nothing more for a lane.
    func retire(_ lane: Int) { state.withLock { $0.lanes[lane]?.isRetired = true } }

    /// Removes a lane that is retired and waits for nothing.
    func leave(_ lane: Int) { state.withLock { $0.lanes[lane] = nil } }

    /// Takes what was claimed ahead for the lane. If nothing was, it waits until the lane's results are stored, and may then
    /// take what was claimed for a lane that still sends.
    ///
    /// - Throws: the error for which the writer could not store a result.
    func takeNext(_ lane: Int) throws -> Ahead? {
        try signal.wait { () -> Result<Ahead?, any Error>? in
            state.withLock { state in
                guard let known = state.lanes[lane] else { return .success(nil) }
                if let fault = known.fault { return .failure(fault) }
                guard known.next != nil && !known.lacksBytes || known.served == known.asked else { return nil }
                let busy = state.lanes.filter { $1.isSending && !$1.lacksBytes && $1.destination == known.destination }
                let giver = known.next == nil ? busy.first { $1.next != nil }?.key ?? lane : lane
                let ahead = state.lanes[giver]?.next
                state.lanes[giver]?.next = nil
                state.lanes[lane]?.session = ahead?.claim.capture.session
                return .success(ahead)
            }
        }.get()
    }

    /// Records that a claim begins, and has the next delivery claimed.
    func begins(_ claim: Claim, _ lane: Int) throws(QueueError) {
        let slot = state.withLock { state in
            state.lanes[lane]?.session = claim.capture.session
            state.lanes[lane]?.isSending = true
            let slot = state.lanes[lane]?.slot ?? 0
            state.lanes[lane]?.slot = 1 - slot
            return 2 * lane + slot
        }
        try onFile(queue.folder.begunFile) { try begun?.begin(claim.token, slot: slot) }
        if claim.capture.session == nil { ask(lane) }
    }

    /// Hands in a try that has ended.
    func ended(_ result: Ended, _ lane: Int) {
        state.withLock { state in
            state.lanes[lane]?.isSending = false
            state.lanes[lane]?.session = nil
            if case .damaged = result.outcome { state.lanes[lane]?.lacksBytes = true }
            state.ended.append((lane, result))
        }
        ask(lane)
    }

    private func ask(_ lane: Int) {
        state.withLock { $0.lanes[lane]?.asked += 1 }
        wake()
    }

    /// Looks again at what the lanes may send, and gives back what was claimed ahead for those that may not.
    func wake() {
        state.withLock { $0.isAwake = true }
        if hasThread { signal.raise() } else { storeAll() }
    }

    /// The claims that no lane sends: those ahead, and those whose results are not stored yet.
    var claimed: [Claim] {
        state.withLock { $0.lanes.values.compactMap(\.next?.claim) + $0.ended.map(\.result.claim) + $0.underWay }
    }

    /// Claims nothing more for the lanes of a destination that was removed or changed.
    func retire(_ destination: Destination) {
        state.withLock { state in
            for (number, lane) in state.lanes where lane.destination == destination {
                state.lanes[number]?.isRetired = true
            }
        }
        wake()
    }

    // MARK: - The thread

    /// Starts the thread; false if the system cannot start one.
    func start() -> Bool {
        Thread.start {
            while self.signal.wait({ self.state.withLock { $0.isAwake ? true : $0.isEnding ? false : nil } }) {
                self.storeAll()
            }
            self.state.withLock { $0.isOver = true }
            self.signal.raise()
        }
    }

    /// Ends the thread, after all lanes have left.
    func end() {
        state.withLock { $0.isEnding = true }
        signal.raise()
        _ = signal.wait { state.withLock { $0.isOver ? true : nil } }
    }

    /// Stores what waits, in one transaction.
    private func storeAll() {
        let news = sending.news
        let hasRoom = queue.store.hasRoom(forOutcomes: sending.claims.count + claimed.count + 1)
        let batch = take(hasRoom)
        let stored = Result { try queue.store.turn { try store(batch, $0) } }
        if case .success(let stored) = stored {
            for (entry, settled) in zip(batch.ended, stored.settled) { entry.result.tell(settled) }
        }
        state.withLock { state in
            state.underWay = []
            for (number, asked) in batch.asked {
                state.lanes[number]?.served = asked
                switch stored {
                case .failure(let error): state.lanes[number]?.fault = error
                case .success(let stored):
                    if let claim = stored.claimed[number] {
                        state.lanes[number]?.next = Ahead(claim: claim, news: news)
                    }
                }
            }
        }
        signal.raise()
        if case .success(let stored) = stored, hasThread { stored.claimed.forEach(layOut) }
    }

    /// Computes the layout of an upload body while the lane still sends another. An idle lane computes its own.
    private func layOut(_ lane: Int, _ claim: Claim) {
        guard state.withLock({ $0.lanes[lane]?.isSending ?? false }),
            let layout = SendJob(claim, now: 0, queue).layoutAhead(for: claim.destination)
        else { return }
        state.withLock { if $0.lanes[lane]?.next?.claim == claim { $0.lanes[lane]?.next?.layout = layout } }
    }

    private struct Batch {
        var ended: [(lane: Int, result: Ended)] = []
        /// The lanes, with how often each has asked.
        var asked: [Int: Int] = [:]
        var claiming: [(lane: Int, destination: Destination)] = []
        var returned: [Claim] = []
    }

    private func take(_ hasRoom: Bool) -> Batch {
        state.withLock { state in
            var batch = Batch(ended: state.ended, asked: state.lanes.mapValues(\.asked))
            (state.ended, state.isAwake) = ([], false)
            for (number, lane) in state.lanes.sorted(by: { $0.key < $1.key }) {
                let maySend = !lane.isRetired && sending.permission(lane.destination) == .go
                state.lanes[number]?.lacksBytes = false
                if let next = lane.next, !maySend || lane.lacksBytes {
                    batch.returned.append(next.claim)
                    state.lanes[number]?.next = nil
                }
                // A lane that has nothing to send claims for itself, so nothing is claimed ahead before all are busy.
                let busy = state.lanes.values.count { $0.destination == lane.destination && !$0.isIdle }
                guard maySend, hasRoom, busy >= lane.destination.pace.concurrency, lane.next == nil,
                    lane.asked > lane.served, lane.session == nil
                else { continue }
                batch.claiming.append((number, lane.destination))
            }
            state.underWay = batch.ended.map(\.result.claim) + batch.returned
            return batch
        }
    }

    private struct Stored {
        var settled: [AttemptResult?] = []
        /// The new claims by lane.
        var claimed: [Int: Claim] = [:]
    }

    private func store(_ batch: Batch, _ turn: QueueStore.WriterTurn) throws -> Stored {
        guard !batch.ended.isEmpty || !batch.claiming.isEmpty || !batch.returned.isEmpty else { return Stored() }
        if !batch.returned.isEmpty {
            try turn.write { db in for claim in batch.returned { try claims.giveBack(claim, db) } }
        }
        let aside = try batch.ended.map { entry -> AttemptResult? in
            guard case .damaged(let message) = entry.result.outcome else { return nil }
            return try claims.setAside(entry.result.claim, entry.result.outcome, message, sending.time, turn)
        }
        let contexts = batch.ended.map { entry in
            context(entry.result.context, of: entry.result.claim.capture, at: entry.result.claim.destination)
        }
        return try turn.write { db in
            var stored = Stored()
            for (number, entry) in batch.ended.enumerated() {
                let (claim, outcome) = (entry.result.claim, entry.result.outcome)
                stored.settled.append(try aside[number] ?? claims.settle(claim, outcome, contexts[number], db))
            }
            for (lane, destination) in batch.claiming {
                let time = try queue.clock.look(db).time(in: sending.time)
                stored.claimed[lane] = try claims.next(for: destination, dueBefore: sending.dueBefore, at: time, db)
            }
            return stored
        }
    }

    /// Adds what the destination's state says now. Call it only with the turn to write: the threads get their turns in any
    /// order, and the last one stores the state.
    func context(_ known: AttemptContext, of capture: CaptureRecord, at destination: Destination) -> AttemptContext {
        var context = known
        context.time = sending.time
        sending.change(destination) { state in
            context.isTakenBack = state.takesBack(capture.sequence)
            context.unsaved = state.takeUnsaved()
        }
        return context
    }
}
