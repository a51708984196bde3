package import CaptureBundle

/// The threads of a run. A lane is one thread of a destination. While it sends, its next delivery is claimed in one transaction
/// with all results that wait (Spec/queue.md section 6). So lanes do not wait for the disk, and one sync serves all of them.
extension RunState {
    /// The lanes of one destination with the same settings.
    package struct Pool {
        package let destination: Destination
        /// How many lanes it should have.
        package let concurrency: Int
        /// How many lanes go on.
        package var most: Int
        /// Whether its lanes end: the run does, or the settings of the destination have changed.
        package var isEnding = false
    }

    /// What a lane does.
    package enum Step: Hashable, Sendable {
        /// It did something, and there may be more.
        case worked
        /// There is nothing to do before this time; nil: before something happens.
        case waiting(until: Int?)
        /// Something is in the way until this time; nil: until something happens.
        case blocked(until: Int?)
    }

    /// Whether the writer waits for a lane to begin its next claim.
    fileprivate enum Turn {
        /// The writer does not wait: the lane sends, polls, connects or gives a claim back.
        case other
        /// The lane waits until a claim is made for it.
        case waits
        /// The lane begins its claim in a moment. The writer waits for that, so that one transaction stores the lane's last result
        /// and makes its next claim.
        case begins
    }

    package struct Lane {
        package let pool: Int
        /// Its number in the pool.
        package let number: Int
        package var step = Step.worked
        /// Whether it has to look again, since it began its last step.
        package var isWoken = false
        /// The delivery that the lane sends, or got to send next.
        package var sent: Claim?
        package var isSending = false
        /// Whether the claim ahead is given back: the last delivery had no bytes, so others may wait for the same folder; or it
        /// was a member of a session that the server did not take, so a later member may not begin.
        package var dropsNext = false
        package var next: Ahead?
        fileprivate var turn = Turn.other
        /// How often the lane asked for something, and how often it was served.
        package var asked = 0
        package var served = 0
        package var fault: (any Error)?
        package var isLeaving = false
        /// Which of its two slots in `BegunClaims` the next claim gets. Two are enough: a lane begins a third claim only after
        /// the result of the first one is stored.
        package var slot = 0

        /// Whether it has nothing to send and was told so.
        package var isIdle: Bool { !isSending && next == nil && asked == served }

        /// Whether a lane without work may take what was claimed ahead for this one. The next member of a session may not begin
        /// while this lane sends the one before.
        fileprivate var sharesNext: Bool {
            guard isSending, !dropsNext, let next else { return false }
            return next.claim.capture.session == nil || next.claim.capture.session != sent?.capture.session
        }
    }

    /// A delivery that was claimed ahead.
    package struct Ahead {
        package let claim: Claim
        /// The number of the news that the claim knew.
        package let news: Int
        /// The layout of the upload body, once it is known.
        package var layout: BodyLayout?

        package init(claim: Claim, news: Int) { (self.claim, self.news) = (claim, news) }
    }

    /// A try that has ended.
    package struct Ended {
        package let claim: Claim
        package let outcome: SendOutcome
        package var context: AttemptContext
        /// Unix milliseconds by the clock of the run.
        package let at: Int
        package let seconds: Double

        package init(claim: Claim, outcome: SendOutcome, context: AttemptContext, at: Int, seconds: Double) {
            (self.claim, self.outcome, self.context, self.at, self.seconds) = (claim, outcome, context, at, seconds)
        }
    }

    /// What is stored in one transaction.
    package struct Batch {
        package var ended: [Ended] = []
        /// Claims that are given back.
        package var returned: [Claim] = []
        /// The lanes that get a claim, and what each sends before it.
        package var claiming: [(lane: Int, destination: Destination, sent: Claim?)] = []
        /// The lanes, with how often each has asked.
        fileprivate var asked: [Int: Int] = [:]
        fileprivate var news = 0

        package var isEmpty: Bool { ended.isEmpty && returned.isEmpty && claiming.isEmpty }
    }

    /// The thread that stores.
    package struct Writer {
        package var isAsked = false
        package var isEnding = false
        package var isOver = false
    }

    /// Whether the writer stores now; false if it ends, nil if it waits.
    package var writerGoesOn: Bool? {
        if lanes.values.contains(where: { $0.turn == .begins }) { return nil }
        return writer.isAsked ? true : writer.isEnding ? false : nil
    }

    // MARK: - Pools

    /// - Returns: the number of the new pool.
    package mutating func poolStarts(_ destination: Destination, concurrency: Int) -> Int {
        lastPool += 1
        pools[lastPool] = Pool(destination: destination, concurrency: concurrency, most: concurrency)
        return lastPool
    }

    /// Its lanes end after what they do now, and nothing more is claimed for them.
    package mutating func poolEnds(_ pool: Int) {
        pools[pool]?.isEnding = true
        forgetIfOver(pool)
    }

    /// Only this many lanes of a pool go on.
    package mutating func poolIsLimited(_ pool: Int, to most: Int) { pools[pool]?.most = most }

    /// The lanes of a pool look again for work.
    package mutating func poolIsWoken(_ pool: Int) {
        for (number, lane) in lanes where lane.pool == pool { lanes[number]?.isWoken = true }
    }

    package func lanes(of pool: Int) -> [Lane] { lanes.values.filter { $0.pool == pool } }

    /// Whether a lane of a pool is working, or still has to look again.
    package func isWorking(_ pool: Int) -> Bool { lanes(of: pool).contains { $0.step == .worked || $0.isWoken } }

    // MARK: - Lanes

    /// - Returns: the number of the new lane: a small one, since it has a place in `BegunClaims`.
    package mutating func laneStarts(_ pool: Int, _ number: Int) -> Int {
        let lane = (0...).first { lanes[$0] == nil } ?? 0
        lanes[lane] = Lane(pool: pool, number: number)
        return lane
    }

    /// Whether a lane looks for work.
    package func goesOn(_ lane: Int) -> Bool {
        guard let lane = lanes[lane], let pool = pools[lane.pool] else { return false }
        return !lane.isLeaving && !pool.isEnding && lane.number < pool.most
    }

    /// - Returns: whether the lane goes on.
    package mutating func stepBegins(_ lane: Int) -> Bool {
        lanes[lane]?.isWoken = false
        return goesOn(lane)
    }

    /// Whether a lane without work has no reason to look again.
    package func mayRest(_ lane: Int) -> Bool { goesOn(lane) && lanes[lane]?.isWoken == false }

    /// - Returns: whether that is a change.
    package mutating func laneDoes(_ step: Step, _ lane: Int) -> Bool {
        defer { lanes[lane]?.step = step }
        return lanes[lane]?.step != step
    }

    /// Nothing more is claimed for a lane.
    package mutating func laneLeaves(_ lane: Int) {
        lanes[lane]?.isLeaving = true
        lanes[lane]?.turn = .other
    }

    package mutating func laneEnded(_ lane: Int) {
        if let pool = lanes.removeValue(forKey: lane)?.pool { forgetIfOver(pool) }
    }

    private mutating func forgetIfOver(_ pool: Int) {
        if pools[pool]?.isEnding == true, lanes(of: pool).isEmpty { pools[pool] = nil }
    }

    // MARK: - Deliveries

    /// A lane wants what was claimed for it. If nothing was, it may take what was claimed for a lane that still sends.
    ///
    /// - Parameter begins: false if the lane takes the claim only to give it back; then the writer does not wait for it.
    /// - Returns: nil if the lane has to wait until its results are stored; the error for which they could not be.
    package mutating func nextAsked(_ lane: Int, begins: Bool) -> Result<Ahead?, any Error>? {
        guard let known = lanes[lane] else { return .success(nil) }
        lanes[lane]?.turn = .other
        if let fault = known.fault { return .failure(fault) }
        guard known.next != nil && !known.dropsNext || known.served == known.asked else {
            if begins { lanes[lane]?.turn = .waits }
            return nil
        }
        let giver =
            known.next != nil
            ? lane
            : lanes.first { $1.sharesNext && $1.pool == known.pool }?.key ?? lane
        let ahead = lanes[giver]?.next
        lanes[giver]?.next = nil
        if begins, ahead != nil { lanes[lane]?.turn = .begins }
        lanes[lane]?.sent = ahead?.claim
        return .success(ahead)
    }

    /// A claim begins to be sent. Meanwhile the lane has its next delivery claimed.
    ///
    /// - Returns: the slot of the claim in `BegunClaims`.
    package mutating func sendingBegins(_ claim: Claim, _ lane: Int) -> Int {
        lanes[lane]?.sent = claim
        lanes[lane]?.isSending = true
        lanes[lane]?.turn = .other
        asks(lane)
        let slot = lanes[lane]?.slot ?? 0
        lanes[lane]?.slot = 1 - slot
        return 2 * lane + slot
    }

    package mutating func sendingEnded(_ result: Ended, _ lane: Int) {
        lanes[lane]?.isSending = false
        lanes[lane]?.sent = nil
        switch result.outcome {
        case .completed, .accepted: break
        case .damaged: lanes[lane]?.dropsNext = true
        default: lanes[lane]?.dropsNext = result.claim.capture.session != nil
        }
        if let known = lanes[lane], known.next != nil, !known.dropsNext { lanes[lane]?.turn = .begins }
        ended.append(result)
        asks(lane)
    }

    /// Lets the writer store without waiting for this lane.
    package mutating func lanePauses(_ lane: Int) { lanes[lane]?.turn = .other }

    private mutating func asks(_ lane: Int) {
        lanes[lane]?.asked += 1
        writer.isAsked = true
    }

    /// What lanes may send has changed: the writer looks again, and gives back what was claimed ahead for those that may not.
    package mutating func writerIsWoken() { writer.isAsked = true }

    package mutating func writerEnds() { writer.isEnding = true }

    package mutating func writerEnded() { writer.isOver = true }

    /// The writer begins to store.
    ///
    /// - Parameter hasRoom: whether the disk has room for one more result.
    /// - Returns: all results that wait, the claims of lanes that may not send, and the lanes that get one.
    package mutating func storingBegins(hasRoom: Bool, at now: Int) -> Batch {
        var batch = Batch(ended: ended, asked: lanes.mapValues(\.asked), news: news)
        (ended, writer.isAsked) = ([], false)
        for (number, lane) in lanes.sorted(by: { $0.key < $1.key }) {
            guard let pool = pools[lane.pool] else { continue }
            let maySend = goesOn(number) && permission(pool.destination, at: now) == .go
            lanes[number]?.dropsNext = false
            if let next = lane.next, !maySend || lane.dropsNext {
                batch.returned.append(next.claim)
                lanes[number]?.next = nil
            }
            // A lane that has nothing to send claims for itself, so nothing is claimed ahead before all are busy.
            let busy = lanes.values.count { $0.pool == lane.pool && !$0.isIdle }
            // The lane may still give back a member that it has not begun, so what follows is not claimed before.
            let hasBegun = lane.isSending || lane.sent?.capture.session == nil
            guard maySend, hasRoom, busy >= pool.concurrency, lane.next == nil,
                lane.asked > lane.served, hasBegun
            else { continue }
            batch.claiming.append((number, pool.destination, lane.sent))
        }
        underWay = batch.ended.map(\.claim) + batch.returned
        return batch
    }

    /// What was asked before is stored, or could not be.
    ///
    /// - Parameter claimed: the new claims by lane.
    package mutating func storingEnded(_ batch: Batch, _ claimed: Result<[Int: Claim], any Error>) {
        underWay = []
        // Another lane may have looked before the claims came back.
        if !batch.returned.isEmpty { moved() }
        for (number, asked) in batch.asked {
            lanes[number]?.served = asked
            switch claimed {
            case .failure(let error): lanes[number]?.fault = error
            case .success(let claimed):
                guard let claim = claimed[number] else { continue }
                lanes[number]?.next = Ahead(claim: claim, news: batch.news)
                if let lane = lanes[number], lane.turn == .waits, !lane.dropsNext { lanes[number]?.turn = .begins }
            }
        }
    }

    /// The layout of the upload body of a claim ahead is known.
    package mutating func layoutMade(_ layout: BodyLayout, of claim: Claim, _ lane: Int) {
        if lanes[lane]?.next?.claim == claim { lanes[lane]?.next?.layout = layout }
    }

    /// The claims that no lane sends: those ahead, and those whose results are not stored yet.
    package var waiting: [Claim] { lanes.values.compactMap(\.next?.claim) + ended.map(\.claim) + underWay }
}
