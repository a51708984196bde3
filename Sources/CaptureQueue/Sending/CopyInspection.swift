import CaptureNative
import GRDB
import QueueModel
import QueueTransports

/// Looks at copies in a folder whose receipts do not say that they were synced under their names, a few at a time
/// (Spec/queue.md section 8.1).
struct CopyInspection {
    let queue: UploadQueue
    let destination: Destination
    /// The last delivery whose copy was looked at.
    private var last = 0
    private var isOver: Bool
    /// Whether a copy could not be read in this pass; then there is another pass, not before `next`.
    private var isAgain = false
    private var next = 0.0
    /// The seconds between two passes.
    private let pause: Double

    /// How many copies are chosen at once, and for how many seconds they are read before the findings are stored.
    private static let (group, limit) = (64, 2.0)

    init(_ queue: UploadQueue, _ destination: Destination, pause: Double = 600) {
        (self.queue, self.destination, self.pause) = (queue, destination, pause)
        isOver = destination.kind != Destination.Kind.folder.rawValue
    }

    /// Looks at some copies outside of the turn to write, and stores what it found.
    ///
    /// - Returns: whether there was something to look at.
    mutating func step(_ transport: any UploadTransport, _ control: SendControl, now: Int) throws -> Bool {
        let started = MonotonicClock.seconds
        guard !isOver, started >= next else { return false }
        let condition = "WHERE destination = ? AND copy = 'unseen' AND id > ? ORDER BY id LIMIT ?"
        let chosen = try queue.store.read { db in
            try DeliveryRecord.all(db, condition, [destination.number, last, Self.group]).compactMap { delivery in
                try CaptureRecord.one(db, sequence: delivery.capture).map { ($0, delivery) }
            }
        }
        guard !chosen.isEmpty else {
            isOver = !isAgain
            (last, isAgain, next) = (0, false, started + pause)
            return false
        }
        guard transport.absence == nil else { return false }
        var found: [(DeliveryRecord, CopyFinding)] = []
        for (capture, delivery) in chosen where control.stopped == nil {
            let job = SendJob(
                capture.delivered(by: delivery), delivery, token: [], now: now, held: capture.sha256, queue)
            let finding = transport.inspect(job, control)
            if finding == .unknown { isAgain = true } else { found.append((delivery, finding)) }
            last = delivery.number
            if MonotonicClock.seconds - started > Self.limit { break }
        }
        try queue.store.write { db in
            for (delivery, finding) in found { try db.store(finding, of: delivery) }
        }
        return true
    }
}

extension UploadQueue.Upkeep {
    /// Ends doubt about a copy that `check --remote` found.
    func endDoubt(_ delivery: DeliveryRecord, of job: SendJob, by transport: any UploadTransport) throws {
        let sql = "SELECT 1 FROM deliveries WHERE id = ? AND copy IS NOT NULL"
        guard try queue.store.read({ try $0.integer(sql, [delivery.number]) }) != nil else { return }
        let finding = transport.inspect(job, SendControl())
        try queue.store.write { try $0.store(finding, of: delivery) }
    }
}

extension Database {
    /// Stores a finding, unless the receipt has changed since.
    fileprivate func store(_ finding: CopyFinding, of delivery: DeliveryRecord) throws {
        let (receipt, doubt): (String?, CopyDoubt?)
        switch finding {
        case .sound(let new): (receipt, doubt) = (new, nil)
        case .beyondDoubt: (receipt, doubt) = (delivery.receipt, nil)
        case .doubtful(let why): (receipt, doubt) = (delivery.receipt, why)
        case .unknown: return
        }
        try run(
            "UPDATE deliveries SET receipt = ?, copy = ? WHERE id = ? AND copy IS NOT NULL AND receipt = ?",
            [receipt, doubt?.rawValue, delivery.number, delivery.receipt])
    }
}
