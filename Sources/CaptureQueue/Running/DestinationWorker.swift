import CaptureBundle
import CaptureNative
import QueueFiles
package import QueueModel
package import QueueTransports
import SystemPackage

/// Sends to one destination, one delivery at a time. Several workers can serve a destination at the same time.
package final class DestinationWorker {
    package enum Step: Hashable, Sendable {
        /// The worker did something, and there may be more.
        case worked
        /// There is nothing to do before this time; nil: before something happens.
        case waiting(until: Int?)
        /// Something is in the way until this time; nil: until something happens.
        case blocked(until: Int?)
    }

    private let queue: UploadQueue
    private let claims: Claims
    private let decisions: ServerDecisions
    private let outbox: SessionOutbox
    let destination: Destination
    private let transport: any UploadTransport
    private let sending: SendingState
    private let events: DestinationEvents
    private let retry: RetryPolicy
    private let writer: ResultWriter
    /// The number of this lane at the writer.
    private let lane: Int
    private var next: ResultWriter.Ahead?
    private var lookedAround = 0.0
    private var copies: CopyInspection

    package init(
        _ queue: UploadQueue, _ destination: Destination, _ transport: any UploadTransport, _ sending: SendingState,
        _ writer: ResultWriter
    ) {
        self.queue = queue
        claims = Claims(queue)
        decisions = ServerDecisions(queue: queue)
        outbox = SessionOutbox(queue: queue)
        self.destination = destination
        self.transport = transport
        self.sending = sending
        self.writer = writer
        lane = writer.join(destination)
        copies = CopyInspection(queue, destination)
        events = DestinationEvents(destination: destination, sending: sending)
        retry = destination.pace.retry
    }

    /// Does one thing: a poll, the notification of a session's end, or a delivery. Only one thread polls and notifies.
    ///
    /// - Throws: an error if the queue itself cannot be read or written.
    package func step() throws -> Step {
        let now = sending.now
        switch sending.permission(destination) {
        case .paused: return giveBack(.blocked(until: nil))
        case .wait(let until): return giveBack(.blocked(until: until))
        case .connect: return try connect(now)
        case .go: break
        }
        if next == nil { next = try claimedAhead(now) }
        var isOtherAsking = false
        // Check for polls and notifications about once a second, also between consecutive transfers.
        if next == nil || MonotonicClock.seconds - lookedAround > 1 {
            lookedAround = MonotonicClock.seconds
            let hasAsked = try sending.alone(with: destination) { try poll(now) || tellSession(now) }
            if hasAsked == true { return .worked }
            isOtherAsking = hasAsked == nil
        }
        if next == nil, let absence = transport.absence,
            try claims.isSomethingDue(for: destination, dueBefore: sending.dueBefore, at: now)
        {
            guard let ticket = sending.begin(destination) else { return .blocked(until: nil) }
            try note(sending.change(destination) { $0.connected(ticket, absence, at: now) })
            return .blocked(until: sending.standing(destination).block?.until?.milliseconds)
        }
        // Without room for the outcome, each later run would send the capture again.
        if next == nil, !hasRoom, try claims.isSomethingDue(for: destination, dueBefore: sending.dueBefore, at: now) {
            guard !sending.claims.isEmpty else { throw queue.store.noRoom }
            return .waiting(until: now + 1000)
        }
        guard
            let ahead = try next
                ?? claims.next(for: destination, dueBefore: sending.dueBefore, time: sending.time).map({
                    ResultWriter.Ahead(claim: $0, news: 0)
                })
        else {
            if try !isOtherAsking && inspectsCopies(now) { return .worked }
            // While another thread polls or notifies, that work still looks due here.
            return .waiting(until: isOtherAsking ? now + 1000 : try nextTime(after: now))
        }
        guard let ticket = sending.begin(destination) else {
            next = ahead
            return giveBack(.blocked(until: nil))
        }
        next = nil
        try deliver(ahead, ticket, now)
        return .worked
    }

    /// Whether there is room to store how one more transfer ends.
    private var hasRoom: Bool { queue.store.hasRoom(forOutcomes: sending.claims.count + writer.claimed.count + 1) }

    /// The delivery that the writer has claimed for this lane. If others have changed something since, it may no longer be the
    /// next one; then it is given back.
    private func claimedAhead(_ now: Int) throws -> ResultWriter.Ahead? {
        while let ahead = try writer.takeNext(lane) {
            if try ahead.news == sending.news
                || claims.isStillNext(ahead.claim, dueBefore: sending.dueBefore, at: now)
            {
                return ahead
            }
            try claims.giveBack(ahead.claim)
        }
        return nil
    }

    /// Gives back the next claim while it cannot be sent.
    private func giveBack(_ step: Step) -> Step {
        while let ahead = next ?? (try? writer.takeNext(lane)) {
            next = nil
            // If this cannot be stored, the next run recovers the claim.
            try? claims.giveBack(ahead.claim)
        }
        return step
    }

    /// Gives back the next claim, and leaves the lane.
    func end() {
        writer.retire(lane)
        _ = giveBack(.waiting(until: nil))
        writer.leave(lane)
    }

    private func nextTime(after now: Int) throws -> Int? {
        if sending.dueBefore != nil { return nil }
        return try [claims.nextDue(for: destination, after: now), outbox.nextDue(for: destination)].compactMap(\.self)
            .min()
    }

    private func connect(_ now: Int) throws -> Step {
        guard let ticket = sending.begin(destination) else { return .blocked(until: nil) }
        let control = sending.control(for: nil, destination)
        defer { sending.done(control) }
        let trouble = transport.reach(control)
        if control.stopped != nil {
            sending.change(destination) { $0.abandoned(ticket) }
            return .blocked(until: nil)
        }
        try note(sending.change(destination) { $0.connected(ticket, trouble, at: sending.now) })
        return trouble == nil ? .worked : .blocked(until: sending.standing(destination).block?.until?.milliseconds)
    }

    // MARK: - A delivery

    private func deliver(_ ahead: ResultWriter.Ahead, _ ticket: DestinationState.Ticket, _ now: Int) throws {
        let claim = ahead.claim
        let control = sending.control(for: claim, destination)
        defer { sending.done(control) }
        try writer.begins(claim, lane)
        events.tell(.attempt, claim.capture, at: now) { $0.attempt = claim.attempt }
        var context = AttemptContext(retry: retry, startedAt: sending.time.stamp)
        let started = MonotonicClock.seconds
        var job = SendJob(claim, now: now, layout: ahead.layout, queue)
        job.outage = sending.standing(destination).outage?.code
        let outcome = transport.send(job, control).naming(claim.capture.id)
        let sent = control.progress.sent
        let after = sending.now
        (context.bytesSent, context.stopCode) = (sent, control.stopCode)
        let refusal = try claims.refusal(of: claim.delivery, outcome, at: destination, due: sending.dueBefore ?? after)
        context.refusal = refusal
        context.verdict = sending.change(destination) {
            $0.ended(ticket, outcome, capture: claim.capture.sequence, refusal, hasBody: sent > 0, at: after)
        }
        let (events, sending, change) = (events, sending, context.verdict.change)
        let ended = ResultWriter.Ended(claim: claim, outcome: outcome, context: context) { settled in
            guard let settled else { return events.tell(change) }
            if claim.capture.session != nil { sending.moved() }
            events.tell(change, settled.takenBack)
            let name = QueueEvent.Name(rawValue: settled.state.rawValue) ?? .pending
            events.tell(name, claim.capture, at: after) { event in
                event.attempt = claim.attempt
                event.describe(outcome)
                if let root = settled.absent { (event.code, event.message) = (Absence.code, Absence.message(root)) }
                event.state = settled.state
                event.until = settled.dueAt.map { CaptureTime(clamping: $0) }
                event.bytesSent = sent
                event.time = .seconds(MonotonicClock.seconds - started)
            }
        }
        writer.ended(ended, lane)
    }

    /// Stores the state of the destination and reports the change.
    private func note(_ change: DestinationState.Change?) throws {
        try queue.destinations.save(sending.change(destination) { $0.takeUnsaved() }, of: destination)
        events.tell(change)
    }

    // MARK: - Polls and sessions

    private func poll(_ now: Int) throws -> Bool {
        guard let (capture, delivery) = try decisions.due(for: destination, at: now),
            let ticket = sending.begin(destination)
        else { return false }
        let control = sending.control(for: nil, destination)
        defer { sending.done(control) }
        let token = try onFile("random numbers") { try RandomBytes.make(16) }
        let job = SendJob(capture, delivery, token: token, now: now, queue)
        let outcome = transport.poll(job, control).naming(capture.id)
        let after = sending.now
        let refusal = try claims.refusal(of: delivery, outcome, at: destination, due: sending.dueBefore ?? after)
        let verdict = sending.change(destination) {
            $0.polled(ticket, outcome, capture: capture.sequence, refusal, at: after)
        }
        let context = AttemptContext(retry: retry, verdict: verdict)
        let (state, takenBack) = try queue.store.turn { turn in
            try decisions.settle(
                delivery, at: destination, outcome, writer.context(context, of: capture, at: destination), turn)
        }
        events.tell(verdict.change, takenBack)
        if let state, state != .processing {
            events.tell(QueueEvent.Name(rawValue: state.rawValue) ?? .pending, capture, at: sending.now) { event in
                event.describe(outcome)
                event.state = state
            }
        }
        // In a single pass each delivery is polled once, because it is due later now.
        return true
    }

    private func inspectsCopies(_ now: Int) throws -> Bool {
        let control = sending.control(for: nil, destination)
        defer { sending.done(control) }
        return try sending.alone(with: destination) { try copies.step(transport, control, now: now) } ?? false
    }

    private func tellSession(_ now: Int) throws -> Bool {
        guard let marker = try outbox.claim(for: destination, at: now) else { return false }
        let control = sending.control(for: nil, destination)
        defer { sending.done(control) }
        let result = Result { try transport.tell(marker, control) }.mapError { SendOutcome.of($0, control) }
        try queue.store.turn { turn in
            try outbox.settle(marker, result, retry: retry, time: sending.time, turn)
        }
        let (name, message): (QueueEvent.Name, String) =
            switch result {
            case .success(let answer): (.session, answer)
            case .failure(let end):
                (.warning, "the destination did not accept the end of session \(marker.session): \(end.trouble ?? "")")
            }
        sending.tell(name, destination, message) { $0.session = marker.session }
        return true
    }
}
