public import CaptureBundle
import CaptureNative
import GRDB

/// Where the bytes of a capture are (Spec/queue.md section 3).
public enum Holding: String, Sendable, CaseIterable {
    case spool, reference, removing, removed, quarantined, missing

    /// There are bytes to send.
    public var hasBytes: Bool { self == .spool || self == .reference }
}

/// One capture that the queue knows. Times are Unix milliseconds.
public struct CaptureRecord: Hashable, Sendable {
    /// Order of arrival, from 1; never used again.
    public let sequence: Int
    /// The bundle's id, with `.2` and so on behind it where the queue has several captures of that id.
    public let id: String
    public let identity: Digest
    /// Of the bundle's bytes.
    public let sha256: Digest
    public let manifestSHA256: Digest
    public let byteCount: Int
    public let capturedAt: CaptureTime
    /// The key id of the device that signed it.
    public let device: Digest
    /// The verdict when it was pushed: `verified`, `unknown-device` or `unacceptable`.
    public let verdict: String
    public let pushedAt: Int
    public let session: String?
    public let priority: Int
    public let notBefore: Int?
    public let holding: Holding
    /// The user's own file, where the queue does not hold the bytes.
    public let reference: String?
    /// The overall state.
    public let state: DeliveryState
    public let finishedAt: Int?
    public let removedAt: Int?
    /// In the order in which they were made.
    public internal(set) var deliveries: [DeliveryRecord]

    /// The bundle's own id: the first 36 characters.
    public var bundleID: String { id.cut(to: 36) }

    /// Columns for `init(row:)`; the session comes by its name.
    static let columns = """
        captures.*, (SELECT name FROM sessions WHERE sessions.id = captures.session) AS session_name
        """

    init(row: Row) throws {
        sequence = try row.needInteger("seq")
        id = try row.needText("id")
        identity = try row.digest("identity")
        sha256 = try row.digest("sha256")
        manifestSHA256 = try row.digest("manifest_sha256")
        byteCount = try row.needInteger("bytes")
        guard let time = CaptureTime(milliseconds: try row.needInteger("captured_at")) else {
            throw QueueError.corruptRecord("no time in captured_at")
        }
        capturedAt = time
        device = try row.digest("device")
        verdict = try row.needText("verdict")
        pushedAt = try row.needInteger("pushed_at")
        session = try row.text("session_name")
        priority = try row.needInteger("priority")
        notBefore = try row.integer("not_before")
        holding = try Self.holding(row)
        reference = try row.text("reference")
        state = try row.state("state")
        finishedAt = try row.integer("finished_at")
        removedAt = try row.integer("removed_at")
        deliveries = []
    }

    static func holding(_ row: Row) throws -> Holding {
        let text = try row.needText("holding")
        guard let holding = Holding(rawValue: text) else { throw QueueError.corruptRecord("the holding \(text)") }
        return holding
    }
}

/// One capture on its way to one destination. Times are Unix milliseconds.
public struct DeliveryRecord: Hashable, Sendable {
    public let number: Int
    /// nil until it is first claimed: the default destination of that moment.
    public let destination: String?
    public let state: DeliveryState
    public let priority: Int
    /// When it may be tried next.
    public let dueAt: Int
    public let attempts: Int
    public let leaseUntil: Int?
    public let completedAt: Int?
    /// What proves that the destination has the bytes.
    public let receipt: String?
    public let remoteID: String?
    public let remoteURL: String?
    public let errorCode: String?
    public let errorMessage: String?
    /// An earlier try may have landed, so the server is asked before it is sent again.
    public let isInDoubt: Bool
    /// How often the server was asked what became of it.
    let polls: Int
    let idempotencyKey: String?
    let capture: Int

    static let columns = """
        deliveries.*, (SELECT name FROM destinations WHERE destinations.id = deliveries.destination) AS destination_name
        """

    init(row: Row) throws {
        number = try row.needInteger("id")
        capture = try row.needInteger("capture")
        destination = try row.text("destination_name")
        state = try row.state("state")
        priority = try row.needInteger("priority")
        dueAt = try row.needInteger("due")
        attempts = try row.needInteger("attempts")
        leaseUntil = try row.integer("lease_until")
        completedAt = try row.integer("completed_at")
        receipt = try row.text("receipt")
        remoteID = try row.text("remote_id")
        remoteURL = try row.text("remote_url")
        errorCode = try row.text("error_code")
        errorMessage = try row.text("error_message")
        isInDoubt = try row.needInteger("in_doubt") == 1
        polls = try row.needInteger("polls")
        idempotencyKey = try row.text("idempotency_key")
    }
}

extension CaptureRecord {
    static func all(_ db: Database, _ condition: String, _ arguments: StatementArguments) throws -> [CaptureRecord] {
        var records = try db.rows("SELECT \(columns) FROM captures \(condition)", arguments).map {
            try CaptureRecord(row: $0)
        }
        // One statement for each of a few, which stays prepared; a single one for many.
        guard records.count > 8 else {
            for index in records.indices { records[index].deliveries = try deliveries(of: records[index].sequence, db) }
            return records
        }
        let numbers = records.map { String($0.sequence) }.joined(separator: ", ")
        let rows = try Row.fetchAll(
            db, sql: "SELECT \(DeliveryRecord.columns) FROM deliveries WHERE capture IN (\(numbers)) ORDER BY id")
        let deliveries = Dictionary(grouping: try rows.map { try DeliveryRecord(row: $0) }, by: \.capture)
        for index in records.indices { records[index].deliveries = deliveries[records[index].sequence] ?? [] }
        return records
    }

    static func one(_ db: Database, sequence: Int) throws -> CaptureRecord? {
        try all(db, "WHERE seq = ?", [sequence]).first
    }

    static func one(_ db: Database, identity: Digest) throws -> CaptureRecord? {
        try all(db, "WHERE identity = ?", [identity.data]).first
    }

    static func deliveries(of sequence: Int, _ db: Database) throws -> [DeliveryRecord] {
        try db.rows("SELECT \(DeliveryRecord.columns) FROM deliveries WHERE capture = ? ORDER BY id", [sequence])
            .map { try DeliveryRecord(row: $0) }
    }
}
