import CaptureBundle
import CaptureNative
import QueueFiles
import QueueModel
import QueueTransports
import SystemPackage

/// Sends to one destination, one delivery at a time. Several workers can serve a destination at the same time.
final class DestinationWorker {
    private let queue: UploadQueue
    private var claims: Claims { Claims(queue) }
    private var outbox: SessionOutbox { SessionOutbox(queue: queue) }
    let destination: Destination
    private let transport: any UploadTransport
    private let owner: RunOwner
    private let retry: RetryPolicy
    private let writer: ResultWriter
    /// The number of its lane (RunState).
    private let lane: Int
    private var next: RunState.Ahead?
    /// What was sent last, until its result is stored for certain.
    private var last: Claim?
    private var lookedAround = 0.0
    private var copies: CopyInspection

    init(
        _ queue: UploadQueue, _ destination: Destination, by transport: any UploadTransport, writer: ResultWriter,
        lane: Int, owner: RunOwner
    ) {
        self.queue = queue
        self.destination = destination
        self.transport = transport
        self.owner = owner
        self.lane = lane
        self.writer = writer
        copies = CopyInspection(queue, destination)
        retry = destination.pace.retry
    }

    /// Does one thing: a poll, the notification of a session's end, or a delivery. Only one thread polls and notifies.
    ///
    /// - Throws: an error if the queue itself cannot be read or written.
    func step() throws -> RunState.Step {
        let now = owner.now
        switch owner.withTime({ $0.permission(destination, at: $1) }) {
        case .paused: return giveBack(.blocked(until: nil))
        case .wait(let until): return giveBack(.blocked(until: until))
        case .connect:
            writer.pauses(lane)
            return try connect(now)
        case .go: break
        }
        next = try claimedAhead(now)
        var isOtherAsking = false
        // Check for polls and notifications about once a second, also between consecutive transfers.
        if next == nil || MonotonicClock.seconds - lookedAround > 1 {
            lookedAround = MonotonicClock.seconds
            writer.pauses(lane)
            let hasAsked = try owner.alone(with: destination) { try poll(now) || reportSession() }
            if hasAsked == true { return .worked }
            isOtherAsking = hasAsked == nil
        }
        if next == nil, let absence = transport.absence,
            try claims.isSomethingDue(for: destination, dueBefore: owner.dueBefore, at: now)
        {
            guard let ticket = owner.withTime({ $0.begins(destination, at: $1) }) else { return .blocked(until: nil) }
            try note(owner.change(destination) { $0.connected(ticket, absence, at: now) })
            return .blocked(until: owner.breaker(of: destination).block?.until?.milliseconds)
        }
        // Without room for the outcome, each later run would send the capture again.
        if next == nil, !hasRoom, try claims.isSomethingDue(for: destination, dueBefore: owner.dueBefore, at: now) {
            guard !owner.sent.isEmpty else { throw queue.store.noRoom }
            return .waiting(until: now + 1000)
        }
        guard
            let ahead = try next
                ?? claims.next(for: destination, dueBefore: owner.dueBefore, time: owner.time).map({
                    RunState.Ahead(claim: $0, news: 0)
                })
        else {
            if try !isOtherAsking && inspectsCopies(now) { return .worked }
            // While another thread polls or notifies, that work still looks due here.
            return .waiting(until: isOtherAsking ? now + 1000 : try nextTime(after: now))
        }
        guard let ticket = owner.withTime({ $0.begins(destination, at: $1) }) else {
            next = ahead
            return giveBack(.blocked(until: nil))
        }
        next = nil
        try deliver(ahead, with: ticket, at: now)
        return .worked
    }

    /// Whether there is room to store how one more transfer ends.
    private var hasRoom: Bool { queue.store.hasRoom(forOutcomes: owner.unstored + 1) }

    /// The delivery that the writer has claimed for this lane. If others have changed something since, it may no longer be the
    /// next one; then it is given back. A member of a session is always compared with the database: news may be late.
    private func claimedAhead(_ now: Int) throws -> RunState.Ahead? {
        while let ahead = try next ?? writer.takeNext(lane) {
            let isKnown = ahead.claim.capture.session == nil && ahead.news == owner.with(\.news)
            if try isKnown || claims.isStillNext(ahead.claim, after: last, dueBefore: owner.dueBefore, at: now) {
                return ahead
            }
            next = nil
            writer.pauses(lane)
            try claims.giveBack(ahead.claim)
        }
        // All results of this lane are stored.
        last = nil
        return nil
    }

    /// Gives back the next claim while it cannot be sent.
    private func giveBack(_ step: RunState.Step) -> RunState.Step {
        writer.pauses(lane)
        while let ahead = next ?? (try? writer.takeNext(lane, begins: false)) {
            next = nil
            // If this cannot be stored, the next run recovers the claim.
            try? claims.giveBack(ahead.claim)
        }
        return step
    }

    /// Gives back the next claim, before the lane ends.
    func end() {
        owner.with { $0.laneLeaves(lane) }
        _ = giveBack(.waiting(until: nil))
        // The lanes with the new settings may have looked before.
        owner.moved()
    }

    private func nextTime(after now: Int) throws -> Int? {
        if owner.dueBefore != nil { return nil }
        return try [claims.nextDue(for: destination, after: now), outbox.nextDue(for: destination)].compactMap(\.self)
            .min()
    }

    private func connect(_ now: Int) throws -> RunState.Step {
        guard let ticket = owner.withTime({ $0.begins(destination, at: $1) }) else { return .blocked(until: nil) }
        let (trouble, isStopped) = owner.transferring(nil, to: destination) { (transport.reach($0), $0.stopped != nil) }
        if isStopped {
            owner.change(destination) { $0.abandoned(ticket) }
            return .blocked(until: nil)
        }
        try note(owner.withTime { $0[destination].connected(ticket, trouble, at: $1) })
        return trouble == nil ? .worked : .blocked(until: owner.breaker(of: destination).block?.until?.milliseconds)
    }

    // MARK: - A delivery

    private func deliver(_ ahead: RunState.Ahead, with ticket: CircuitBreaker.Ticket, at now: Int) throws {
        let claim = ahead.claim
        last = claim
        try owner.transferring(claim, to: destination) { control in
            try writer.begins(claim, lane)
            owner.report(.attempt, claim.capture, destination, at: now) { $0.attempt = claim.attempt }
            var context = AttemptContext(retry: retry, startedAt: owner.time.recordTime)
            let started = MonotonicClock.seconds
            var job = SendJob(claim, now: now, layout: ahead.layout, queue)
            job.outage = owner.breaker(of: destination).saved.outage?.code
            let outcome = transport.send(job, control).naming(claim.capture.id)
            let (sent, after) = (control.progress.sent, owner.now)
            (context.bytesSent, context.stopCode) = (sent, control.stopCode)
            let refusal = try claims.refusal(
                of: claim.delivery, outcome, at: destination, due: owner.dueBefore ?? after)
            context.refusal = refusal
            context.verdict = owner.change(destination) {
                $0.ended(ticket, outcome, capture: claim.capture.sequence, refusal, hasBody: sent > 0, at: after)
            }
            let seconds = MonotonicClock.seconds - started
            let ended = RunState.Ended(
                claim: claim, outcome: outcome, context: context, at: after, seconds: seconds)
            writer.ended(ended, lane)
        }
    }

    /// Stores the state of the destination and reports the change.
    private func note(_ change: CircuitBreaker.Change?) throws {
        try queue.destinations.save(owner.change(destination) { $0.takeUnsaved() }, of: destination)
        owner.report(change, destination)
    }

    // MARK: - Polls and sessions

    private func poll(_ now: Int) throws -> Bool {
        guard let (capture, delivery) = try claims.undecided(for: destination, at: now),
            let ticket = owner.withTime({ $0.begins(destination, at: $1) })
        else { return false }
        let token = try onFile("random numbers") { try RandomBytes.make(16) }
        let job = SendJob(capture, delivery, token: token, now: now, queue)
        let outcome = owner.transferring(nil, to: destination) { transport.poll(job, $0) }.naming(capture.id)
        let after = owner.now
        let refusal = try claims.refusal(of: delivery, outcome, at: destination, due: owner.dueBefore ?? after)
        let verdict = owner.change(destination) {
            $0.polled(ticket, outcome, capture: capture.sequence, refusal, at: after)
        }
        let context = AttemptContext(retry: retry, verdict: verdict)
        let (state, takenBack) = try queue.store.turn { turn in
            try claims.settle(
                delivery, at: destination, with: outcome, writer.context(context, of: capture, at: destination),
                in: turn)
        }
        owner.report(verdict.change, destination, takenBack)
        if let state, state != .processing {
            owner.report(QueueEvent.Name(rawValue: state.rawValue) ?? .pending, capture, destination, at: owner.now) {
                event in
                event.describe(outcome)
                event.state = state
            }
        }
        // In a single pass each delivery is polled once, because it is due later now.
        return true
    }

    private func inspectsCopies(_ now: Int) throws -> Bool {
        try owner.transferring(nil, to: destination) { control in
            try owner.alone(with: destination) { try copies.step(transport, control, now: now) } ?? false
        }
    }

    private func reportSession() throws -> Bool {
        guard let marker = try outbox.claim(for: destination, at: owner.dueUntil) else { return false }
        let result = owner.transferring(nil, to: destination) { control in
            Result { try transport.notify(marker.session, key: marker.key, body: marker.body, control) }.mapError {
                SendOutcome.of($0, control)
            }
        }
        try queue.store.turn { turn in
            try outbox.settle(marker, with: result, retry: retry, time: owner.time, in: turn)
        }
        let (name, message): (QueueEvent.Name, String) =
            switch result {
            case .success(let answer): (.session, answer)
            case .failure(let end):
                (.warning, "the destination did not accept the end of session \(marker.session): \(end.trouble ?? "")")
            }
        owner.report(name, destination, message) { $0.session = marker.session }
        return true
    }
}
