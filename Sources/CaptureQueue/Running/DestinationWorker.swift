import CaptureBundle
import CaptureNative
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
    private let retry: RetryPolicy
    /// The next claim, made when the result of the previous one was stored.
    private var next: Claim?
    private var lookedAround = 0.0

    package init(
        _ queue: UploadQueue, _ destination: Destination, _ transport: any UploadTransport, _ sending: SendingState
    ) {
        self.queue = queue
        claims = Claims(queue)
        decisions = ServerDecisions(queue: queue)
        outbox = SessionOutbox(queue: queue)
        self.destination = destination
        self.transport = transport
        self.sending = sending
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
            return .blocked(until: sending.standing(destination).block?.until)
        }
        // Without room for the outcome, each later run would send the capture again.
        if next == nil, !hasRoom, try claims.isSomethingDue(for: destination, dueBefore: sending.dueBefore, at: now) {
            guard !sending.claims.isEmpty else { throw queue.store.noRoom }
            return .waiting(until: now + 1000)
        }
        guard
            let claim = try next ?? claims.next(for: destination, dueBefore: sending.dueBefore, time: sending.time)
        else {
            // While another thread polls or notifies, that work still looks due here.
            return .waiting(until: isOtherAsking ? now + 1000 : try nextTime(after: now))
        }
        guard let ticket = sending.begin(destination) else {
            next = claim
            return giveBack(.blocked(until: nil))
        }
        next = nil
        try deliver(claim, ticket, now)
        return .worked
    }

    /// Whether there is room to store how one more transfer ends.
    private var hasRoom: Bool { queue.store.hasRoom(forOutcomes: sending.claims.count + 1) }

    /// Gives back the next claim while it cannot be sent.
    private func giveBack(_ step: Step) -> Step {
        guard let claim = next else { return step }
        next = nil
        // If this cannot be stored, the next run recovers the claim.
        try? claims.giveBack(claim)
        return step
    }

    /// Gives back the next claim.
    func end() { _ = giveBack(.waiting(until: nil)) }

    private func nextTime(after now: Int) throws -> Int? {
        if sending.isOnce { return nil }
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
        return trouble == nil ? .worked : .blocked(until: sending.standing(destination).block?.until)
    }

    // MARK: - A delivery

    private func deliver(_ claim: Claim, _ ticket: DestinationState.Ticket, _ now: Int) throws {
        let control = sending.control(for: claim, destination)
        defer { sending.done(control) }
        sending.tell(event(.attempt, claim.capture, at: now, attempt: claim.attempt))
        let started = MonotonicClock.seconds
        let job = SendJob(claim.capture, claim.delivery, token: claim.token, now: now, queue)
        let outcome = transport.send(job, control)
        let sent = control.progress.sent
        let after = sending.now
        let verdict = sending.change(destination) {
            $0.ended(ticket, outcome, capture: claim.capture.sequence, at: after)
        }
        // Asked before the turn below: to make room, `hasRoom` may need the turn to write itself.
        let claimsNext = sending.permission(destination) == .go && hasRoom
        let settled: AttemptResult
        do {
            settled = try queue.store.turn { turn in
                if case .damaged(let message) = outcome,
                    let aside = try claims.setAside(claim, outcome, message, sending.time, turn)
                {
                    return aside
                }
                var context = context(verdict, claim.capture)
                context.bytesSent = sent
                context.claimsNext = claimsNext
                context.dueBefore = sending.dueBefore
                return try claims.settle(claim, outcome, context, turn)
            }
        } catch let error as QueueError where error.code == .claimLost {
            return tell(verdict.change)
        }
        next = settled.next
        if claim.capture.session != nil { sending.moved() }
        tell(verdict.change, settled.takenBack)
        let name = QueueEvent.Name(rawValue: settled.state.rawValue) ?? .pending
        var event = self.event(name, claim.capture, at: after, attempt: claim.attempt)
        event.describe(outcome)
        if let root = settled.absent { (event.code, event.message) = (Absence.code, Absence.message(root)) }
        event.state = settled.state
        event.until = settled.dueAt
        event.bytesSent = sent
        event.milliseconds = Int((MonotonicClock.seconds - started) * 1000)
        sending.tell(event)
    }

    /// What the end of a try means for the destination. Call it only with the turn to write: the threads get their turns
    /// in any order, and the last one stores the state.
    private func context(_ verdict: DestinationState.Verdict, _ capture: CaptureRecord) -> AttemptContext {
        var context = AttemptContext(retry: retry, time: sending.time, verdict: verdict)
        sending.change(destination) { state in
            context.isTakenBack = state.takesBack(capture.sequence)
            context.unsaved = state.takeUnsaved()
        }
        return context
    }

    private func event(
        _ name: QueueEvent.Name, _ capture: CaptureRecord, at now: Int, attempt: Int? = nil
    ) -> QueueEvent {
        var event = QueueEvent(name, at: now, destination: sending.name(destination))
        event.id = capture.id
        event.sha256 = capture.sha256
        event.bytes = capture.byteCount
        event.session = capture.session
        event.attempt = attempt
        return event
    }

    /// Stores the state of the destination and reports the change.
    private func note(_ change: DestinationState.Change?) throws {
        try queue.destinations.save(sending.change(destination) { $0.takeUnsaved() }, of: destination)
        tell(change)
    }

    private func tell(_ change: DestinationState.Change?, _ takenBack: [CaptureRecord] = []) {
        switch change {
        case .blocked(let block):
            sending.tell(block.reason == .offline ? .offline : .blocked, destination, block.message) { event in
                (event.code, event.until) = (block.reason.rawValue, block.until)
            }
        case .ready:
            sending.tell(.ready, destination)
            sending.moved()
        case nil: break
        }
        for capture in takenBack {
            var event = self.event(.pending, capture, at: sending.now)
            (event.state, event.message) = (.pending, "waits again: the destination refuses everything")
            sending.tell(event)
        }
    }

    // MARK: - Polls and sessions

    private func poll(_ now: Int) throws -> Bool {
        guard let (capture, delivery) = try decisions.due(for: destination, at: now),
            let ticket = sending.begin(destination)
        else { return false }
        let control = sending.control(for: nil, destination)
        defer { sending.done(control) }
        let token = try onFile("random numbers") { () throws(NativeError) in try RandomBytes.make(16) }
        let job = SendJob(capture, delivery, token: token, now: now, queue)
        let outcome = transport.poll(job, control)
        let after = sending.now
        let verdict = sending.change(destination) {
            $0.polled(ticket, outcome, capture: capture.sequence, at: after)
        }
        let (state, takenBack) = try queue.store.turn { turn in
            try decisions.settle(delivery, at: destination, outcome, context(verdict, capture), turn)
        }
        tell(verdict.change, takenBack)
        if let state, state != .processing {
            var event = self.event(QueueEvent.Name(rawValue: state.rawValue) ?? .pending, capture, at: sending.now)
            event.describe(outcome)
            event.state = state
            sending.tell(event)
        }
        // In a single pass each delivery is polled once, because it is due later now.
        return true
    }

    private func tellSession(_ now: Int) throws -> Bool {
        guard let marker = try outbox.claim(for: destination, at: now) else { return false }
        let control = sending.control(for: nil, destination)
        defer { sending.done(control) }
        let result = transport.tell(marker, control)
        try queue.store.turn { turn in
            try outbox.settle(marker, result, retry: retry, time: sending.time, turn)
        }
        let (name, message): (QueueEvent.Name, String) =
            switch result {
            case .success(let answer): (.session, answer)
            case .failure(let trouble):
                (.warning, "the destination did not accept the end of session \(marker.session): \(trouble.message)")
            }
        sending.tell(name, destination, message) { $0.session = marker.session }
        return true
    }
}

extension QueueEvent {
    fileprivate mutating func describe(_ outcome: SendOutcome) {
        code = outcome.code
        message = outcome.trouble
        switch outcome {
        case .completed(let receipt, let id, let url): (self.receipt, remoteID, remoteURL) = (receipt, id, url)
        case .accepted(let id, let url): (remoteID, remoteURL) = (id, url)
        default: break
        }
    }
}
