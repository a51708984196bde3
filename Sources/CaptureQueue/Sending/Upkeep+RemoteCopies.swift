import CaptureBundle
import QueueModel
import QueueTransports

/// Asks destinations what they still have (Spec/capqueue.md, `check --remote`).
extension UploadQueue.Upkeep {
    /// Asks the destinations for all completed captures whose bytes are still here. What they have lost is sent again.
    ///
    /// - Parameter isDryRun: whether losses are only reported.
    /// - Returns: the number of deliveries that were asked for.
    public func checkRemote(isDryRun: Bool, deliver: (CheckFinding) throws -> Void) throws -> Int {
        let shares = TransportShares(queue.signers)
        var transports: [String: any UploadTransport] = [:]
        var count = 0
        try queue.store.eachPage { records in
            for record in records where record.holding.hasBytes {
                for delivery in record.deliveries where delivery.state == .completed {
                    guard let name = delivery.destination else { continue }
                    let transport = try transports[name] ?? shares.make(queue.destinations.find(name)) { _ in }
                    transports[name] = transport
                    count += 1
                    let job = SendJob(
                        record.delivered(by: delivery), delivery, token: [], now: 0, held: record.sha256, queue)
                    func report(_ kind: CheckFinding.Kind, _ text: String, isRepaired: Bool = false) throws {
                        try deliver(.init(kind: kind, id: record.id, path: name, message: text, isRepaired: isRepaired))
                    }
                    switch transport.confirm(job, SendControl()) {
                    case .there:
                        if !isDryRun { try endDoubt(delivery, of: job, by: transport) }
                    case .unknown(let text):
                        try report(.unconfirmed, "cannot tell whether the upload is there: \(text)")
                    case .lost(let text):
                        let isSentAgain = try !isDryRun && lose(delivery, because: text)
                        try report(.lost, text + (isSentAgain ? "; it is sent again" : ""), isRepaired: isSentAgain)
                    }
                }
            }
        }
        return count
    }

    /// The number of uploads that `checkRemote` does not ask for.
    ///
    /// - Returns: those whose bytes the queue no longer has, and those that were recorded without a destination.
    package func notAsked() throws -> (withoutBytes: Int, withoutDestination: Int) {
        try queue.store.read { db in
            func count(_ condition: String) throws -> Int {
                try db.integer(
                    """
                    SELECT count(*) FROM deliveries JOIN captures ON captures.seq = capture
                    WHERE deliveries.state = 'completed' AND \(condition)
                    """) ?? 0
            }
            return (
                try count("holding NOT IN ('spool', 'reference')"),
                try count("holding IN ('spool', 'reference') AND destination IS NULL")
            )
        }
    }

    private func lose(_ delivery: DeliveryRecord, because text: String) throws -> Bool {
        try queue.store.write { db in
            guard let delivery = try DeliveryRecord.one(db, delivery.number) else { return false }
            let now = try queue.clock.observe(db)
            // With the old key, a server could answer again that it has the capture.
            return try db.apply(
                .lose, to: delivery, at: now.recordTime,
                .init(cause: text, due: now.wall, attempts: 0, isInDoubt: false, forgetsKey: true))
        }
    }
}
