import GRDB
import QueueModel

/// Deliveries on which the server has not decided yet (Spec/upload.md section 4.3).
extension Claims {
    /// The next delivery to poll; nil if none is due.
    func undecided(for destination: Destination, at now: Int) throws -> (CaptureRecord, DeliveryRecord)? {
        try queue.store.read { db in
            let condition = "WHERE destination = ? AND state = 'processing' AND due <= ? ORDER BY due LIMIT 1"
            guard let delivery = try DeliveryRecord.all(db, condition, [destination.number, now]).first,
                let capture = try CaptureRecord.one(db, sequence: delivery.capture)
            else { return nil }
            return (capture, delivery)
        }
    }

    /// Stores the answer to a poll.
    ///
    /// - Parameter outcome: the answer. After `accepted`, `blocked` and `parked` the delivery is polled again later.
    /// - Returns: the new state of the delivery, which is nil if the user changed it meanwhile, and the captures that
    ///   were refused for good and now wait again.
    func settle(
        _ delivery: DeliveryRecord, at destination: Destination, with outcome: SendOutcome, _ settling: AttemptContext,
        in turn: QueueStore.WriterTurn
    ) throws -> (state: DeliveryState?, takenBack: [CaptureRecord]) {
        try turn.write { db in
            let reading = try queue.clock.observe(db)
            let now = reading.time(in: settling.time)
            let takenBack = try db.settle(settling, at: destination, now)
            guard let delivery = try DeliveryRecord.one(db, delivery.number), delivery.state == .processing else {
                return (nil, takenBack)
            }
            switch outcome {
            case .accepted, .blocked, .parked:
                let polls = delivery.polls + 1
                let delay = min(1000 << min(polls, 12), Database.longestPollDelay)
                try db.run(
                    "UPDATE deliveries SET due = ?, polls = ? WHERE id = ?", [now.wall + delay, polls, delivery.number])
                return (.processing, takenBack)
            default:
                var (event, change) = try db.change(for: outcome, of: delivery, at: destination, settling, by: reading)
                // The server has lost the capture, so it must not treat the next upload as a repetition.
                if case .unclear = outcome { change.forgetsKey = true }
                let isApplied = try db.apply(event, to: delivery, at: now.recordTime, change)
                return (isApplied ? DeliveryStateMachine.next(delivery.state, event) : nil, takenBack)
            }
        }
    }
}
