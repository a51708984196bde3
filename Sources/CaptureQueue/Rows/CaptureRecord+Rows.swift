import CaptureBundle
import Foundation
import GRDB
import QueueFiles
import QueueModel

extension CaptureRecord {
    /// The number of rows in one read, so that no read stays open during slow work.
    static let page = 500

    /// The columns that `init(row:)` needs, and no others, since each costs time in each read.
    static let columns = """
        seq, id, identity, sha256, manifest_sha256, bytes, captured_at, device, verdict, pushed_at, priority, not_before,
        holding, reference, state, finished_at, removed_at, tag, body_sha256, body_form, order_after, order_position,
        (SELECT name FROM sessions WHERE sessions.id = captures.session) AS session_name
        """

    init(row: Row) throws {
        self.init(
            sequence: try row.needInteger("seq"),
            id: try row.needText("id"),
            identity: try row.digest("identity"),
            sha256: try row.digest("sha256"),
            manifestSHA256: try row.digest("manifest_sha256"),
            byteCount: try row.needInteger("bytes"),
            capturedAt: try row.needTime("captured_at"),
            device: try row.digest("device"),
            verdict: try row.needText("verdict"),
            pushedAt: try row.needTime("pushed_at"),
            priority: try row.needInteger("priority"),
            holding: try Self.holding(row),
            state: try row.state("state"))
        session = try row.text("session_name")
        notBefore = try row.time("not_before")
        reference = try row.text("reference")
        finishedAt = try row.time("finished_at")
        removedAt = try row.time("removed_at")
        order = try row.integer("order_after").flatMap { after in
            PushOrder(after: after, position: try row.needInteger("order_position"))
        }
        tag = try BytesTag(row: row)
        body = try BodyHash(row: row)
    }

    static func holding(_ row: Row) throws -> Holding {
        let text = try row.needText("holding")
        guard let holding = Holding(rawValue: text) else { throw QueueError.corruptRecord("unknown holding \(text)") }
        return holding
    }
}

extension DeliveryRecord {
    static let columns = """
        id, capture, state, due, attempts, completed_at, receipt, part, remote_id, remote_url,
        error_code, error_message, in_doubt, polls, idempotency_key,
        (SELECT name FROM destinations WHERE destinations.id = deliveries.destination) AS destination_name
        """

    init(row: Row) throws {
        self.init(
            number: try row.needInteger("id"),
            capture: try row.needInteger("capture"),
            state: try row.state("state"),
            dueAt: try row.needTime("due"),
            attempts: try row.needInteger("attempts"),
            isInDoubt: try row.needInteger("in_doubt") == 1,
            polls: try row.needInteger("polls"))
        destination = try row.text("destination_name")
        completedAt = try row.time("completed_at")
        receipt = try row.text("receipt")
        part = try row.text("part")
        remoteID = try row.text("remote_id")
        remoteURL = try row.text("remote_url")
        errorCode = try row.text("error_code")
        errorMessage = try row.text("error_message")
        idempotencyKey = try row.text("idempotency_key")
    }

    static func all(_ db: Database, _ condition: String, _ arguments: StatementArguments) throws -> [DeliveryRecord] {
        try db.mapped("SELECT \(columns) FROM deliveries \(condition)", arguments) { try DeliveryRecord(row: $0) }
    }

    static func one(_ db: Database, _ number: Int) throws -> DeliveryRecord? {
        try all(db, "WHERE id = ?", [number]).first
    }
}

extension QueueStore {
    /// Hands over the captures that a condition selects, in the order of their pushes. Each page is a separate read, so
    /// that no read stays open during slow work.
    func eachPage(
        where condition: (Database) throws -> (sql: String, arguments: StatementArguments) = { _ in ("1", []) },
        _ body: ([CaptureRecord]) throws -> Void
    ) throws {
        var after = 0
        while true {
            let records = try read { db in
                let (sql, arguments) = try condition(db)
                return try CaptureRecord.all(
                    db, "WHERE \(sql) AND seq > ? ORDER BY seq LIMIT ?", arguments + [after, CaptureRecord.page])
            }
            guard let last = records.last else { return }
            after = last.sequence
            try body(records)
        }
    }
}

extension CaptureRecord {
    static func all(_ db: Database, _ condition: String, _ arguments: StatementArguments) throws -> [CaptureRecord] {
        var records = try db.mapped("SELECT \(columns) FROM captures \(condition)", arguments) {
            try CaptureRecord(row: $0)
        }
        // Up to 8 captures use one prepared statement each; more captures share a single statement.
        guard records.count > 8 else {
            for index in records.indices { records[index].deliveries = try deliveries(of: records[index].sequence, db) }
            return records
        }
        let numbers = records.map { String($0.sequence) }.joined(separator: ", ")
        let cursor = try Row.fetchCursor(
            db, sql: "SELECT \(DeliveryRecord.columns) FROM deliveries WHERE capture IN (\(numbers)) ORDER BY id")
        let deliveries = Dictionary(grouping: try Array(cursor.map { try DeliveryRecord(row: $0) }), by: \.capture)
        for index in records.indices { records[index].deliveries = deliveries[records[index].sequence] ?? [] }
        return records
    }

    static func one(_ db: Database, sequence: Int) throws -> CaptureRecord? {
        try all(db, "WHERE seq = ?", [sequence]).first
    }

    static func one(_ db: Database, identity: Digest) throws -> CaptureRecord? {
        try all(db, "WHERE identity = ?", [identity.data]).first
    }

    /// Returns the capture as it was when this delivery was completed. A later copy may have another hash.
    func delivered(by delivery: DeliveryRecord) -> CaptureRecord {
        guard let receipt = delivery.receipt,
            let sent = Receipt.sha256(in: receipt)
                ?? (Receipt.names(sha256, receipt) ? nil : Receipt.onlyHash(in: receipt))
        else { return self }
        var record = self
        record.sha256 = sent
        record.byteCount = Receipt.byteCount(in: receipt) ?? byteCount
        return record
    }

    static func deliveries(of sequence: Int, _ db: Database) throws -> [DeliveryRecord] {
        try DeliveryRecord.all(db, "WHERE capture = ? ORDER BY id", [sequence])
    }
}

/// Stores what is known about the bytes besides their SHA-256, so that sending need not hash them again.
extension Database {
    /// Gives a known capture these bytes.
    ///
    /// - Parameter reference: the user's own file that holds them; nil for the spool.
    func setBytes(
        _ facts: CaptureFacts, reference: String? = nil, tag: BytesTag? = nil, body: BodyHash? = nil,
        ofCapture sequence: Int, at now: Int
    ) throws {
        let holding = reference == nil ? Holding.spool : .reference
        try run(
            """
            UPDATE captures SET sha256 = ?, bytes = ?, holding = ?, reference = ?, removed_at = NULL, stored_at = ?,
                photo = ?, is_condensed = 0, tag = ?, body_sha256 = ?, body_form = ? WHERE seq = ?
            """,
            [
                facts.sha256.data, facts.byteCount, holding.rawValue, reference, now, facts.photo?.data,
                tag.map { Data($0.bytes) }, body?.sha256.data, body?.form, sequence,
            ])
    }

    /// Lets deliveries wait again whose bytes were gone. The `not_before` of the push still applies.
    func restore(_ deliveries: [DeliveryRecord], at now: QueueClock.Reading, cause: String) throws {
        for delivery in deliveries where delivery.state == .quarantined {
            _ = try apply(.restore, to: delivery, at: now.recordTime, .init(cause: cause, due: due(of: delivery, now)))
        }
    }

    /// Forgets a tag that does not fit although the SHA-256 is right. From now on the SHA-256 is compared.
    func dropTag(ofCapture sequence: Int) throws {
        try run("UPDATE captures SET tag = NULL WHERE seq = ?", [sequence])
    }
}

extension BytesTag {
    init?(row: Row) throws {
        let value = row["tag"] as DatabaseValue
        if value.isNull { return nil }
        guard case .blob(let data) = value.storage, let tag = BytesTag(bytes: Array(data)) else {
            throw QueueError.corruptRecord("the value in the column tag is invalid")
        }
        self = tag
    }
}

extension BodyHash {
    /// Returns nil if there is no hash yet, or if the body was made in another form.
    init?(row: Row) throws {
        guard let form = try row.text("body_form") else { return nil }
        self.init(sha256: try row.digest("body_sha256"), form: form)
    }
}

extension Digest {
    /// The 32 bytes that the database stores.
    var data: Data { Data(bytes) }
}
