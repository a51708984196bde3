import CaptureBundle
import CaptureNative
import GRDB
import QueueFiles
import QueueModel
import SystemPackage

/// A bundle in the spool that no row names.
struct StrayFile {
    let queue: UploadQueue
    let sha256: Digest

    enum Adoption {
        /// The capture was added. Its deliveries are held, because the bundle does not show whether they were sent or
        /// cancelled before, for example if the database was restored from a backup. The remark is about its place in its
        /// session.
        case held(remark: String?)
        /// The row of the same capture has its bytes again.
        case restored
        /// The bytes are damaged, or a second copy of a capture, and were set aside.
        case damaged, copy
    }

    /// Verifies the bundle and gives it a new row, or the row of the same capture.
    func adopt() throws -> Adoption {
        try queue.store.turn { turn in
            guard let facts = try StoredBundle.facts(sha256, queue.spool) else {
                _ = try queue.spool.quarantine(sha256)
                return .damaged
            }
            let sidecar = StoredBundle.sidecar(sha256, queue.folder)
            if let known = try queue.store.read({ try CaptureRecord.one($0, identity: facts.identity) }),
                known.holding == .spool, try queue.spool.matches(known.sha256)
            {
                // It is the same capture under another signature. The queue has one copy; the other one is set aside.
                _ = try queue.spool.quarantine(sha256)
                return .copy
            }
            try queue.spool.settle([sha256])
            let adoption = try turn.write { db -> Adoption in
                let now = try queue.clock.observe(db)
                if let known = try CaptureRecord.one(db, identity: facts.identity) {
                    // The row had lost its bytes.
                    try db.setBytes(facts, ofCapture: known.sequence, at: now.recordTime)
                    try db.restore(known.deliveries, at: now, cause: "found in the spool")
                    return .restored
                }
                let number = try db.insertFound(
                    facts, sidecar, id: db.freeID(facts.bundleID, like: sidecar?.id), holding: .spool, state: .held,
                    at: now)
                return .held(remark: try Self.remark(sidecar, capture: number, db))
            }
            if let record = try queue.store.read({ try CaptureRecord.one($0, identity: facts.identity) }) {
                // Without this, a salvage would trust the sidecar of the push that was killed, or find none.
                try queue.spool.remove(RetentionPolicy.permitToReplaceSidecar(sha256))
                try queue.writeSidecar(of: record)
            }
            return adoption
        }
    }

    private static func remark(_ sidecar: Sidecar?, capture number: Int, _ db: Database) throws -> String? {
        guard sidecar?.lacksOrder != true else {
            return "its sidecar is of an earlier version, so it is the last of its session"
        }
        let gone = try db.rows(
            """
            SELECT DISTINCT later.seq, later.id AS id FROM captures AS this JOIN captures AS later ON later.session = this.session
                JOIN deliveries ON deliveries.capture = later.seq
            WHERE this.seq = ? AND deliveries.state IN ('completed', 'processing') AND deliveries.destination IN
                (SELECT destination FROM deliveries WHERE capture = this.seq) AND
                (coalesce(later.order_after, later.seq - 1), later.order_position) > (this.order_after, this.order_position)
            ORDER BY later.seq LIMIT 9
            """, [number]
        ).map { try $0.needText("id") }
        guard !gone.isEmpty else { return nil }
        let shown = gone.prefix(8).joined(separator: ", ") + (gone.count > 8 ? ", …" : "")
        return "these later members of its session have gone before it: \(shown)"
    }

    /// - Returns: false if something still needs the sidecar.
    func removeSidecar() throws -> Bool {
        try queue.store.turn { _ in
            let rows = try queue.store.read { try $0.captures(of: sha256, where: "holding = 'reference'") }
            let hasBundle = FileStatus.exists(queue.folder.bundlePath(sha256))
            guard let permit = RetentionPolicy.permitForSidecar(sha256, rows: rows, hasBundle: hasBundle) else {
                return false
            }
            try queue.spool.remove(permit)
            return true
        }
    }
}

extension Database {
    /// Adds a capture that was found without its row. It may have been sent, so it is in doubt.
    ///
    /// - Parameter destinations: used if there are none of those that the sidecar names.
    /// - Returns: the row number.
    @discardableResult
    func insertFound(
        _ facts: CaptureFacts, _ sidecar: Sidecar?, id: String, holding: Holding, reference: String? = nil,
        state: DeliveryState, at now: QueueClock.Reading, cause: String = "salvaged", destinations: [Int] = [],
        tag: BytesTag? = nil, body: BodyHash? = nil
    ) throws -> Int {
        let session = try sidecar?.session.flatMap { name in
            // An ended session stays so: its end waits for this member. An invalid name is no reason to drop the bundle.
            try integer("SELECT id FROM sessions WHERE name = ?", [name])
                ?? (try? self.session(name, reopens: true, at: now.recordTime))
        }
        let named = try self.destinations(of: sidecar)
        let number = try insertCapture(
            CaptureRow(
                id: id, facts: facts, pushedAt: sidecar?.pushedAt.milliseconds ?? now.recordTime, session: session,
                priority: sidecar?.priority ?? 0, holding: holding, reference: reference, order: sidecar?.order),
            destinations: named.isEmpty ? destinations : named,
            start: DeliveryStart(now, notBefore: sidecar?.notBefore), at: now.recordTime, state: state, cause: cause,
            tag: tag, body: body)
        try run("UPDATE deliveries SET in_doubt = 1 WHERE capture = ?", [number])
        return number
    }
}

extension UploadQueue {
    /// Writes a missing sidecar from its row.
    func writeSidecar(of record: CaptureRecord) throws {
        let sidecar = Sidecar(
            id: record.id,
            facts: CaptureFacts(
                bundleID: record.bundleID, identity: record.identity, sha256: record.sha256,
                manifestSHA256: record.manifestSHA256, byteCount: record.byteCount, capturedAt: record.capturedAt,
                device: record.device, verdict: .unknownDevice, photo: nil),
            pushedAt: record.pushedAt, priority: record.priority,
            notBefore: record.notBefore, session: record.session,
            destinations: record.deliveries.compactMap(\.destination), reference: record.reference,
            order: record.order)
        let path = folder.sidecarPath(record.sha256)
        // Another process may have written it meanwhile.
        _ = try onFile(path) {
            try allowing(\.isExisting) {
                try AtomicFile.write(sidecar.encoded, to: path, mode: 0o600, existing: .refuse)
            }
        }
    }
}

extension UploadQueue {
    /// Records damage in the row and its deliveries, then renames the file. If that fails, the next `check` does it.
    ///
    /// - Parameter sender: the delivery whose try found the damage, so that its body was not sent whole.
    /// - Returns: the new path of the bytes; nil if they were not renamed, or are the user's own file.
    func setAside(
        _ record: CaptureRecord, _ kind: CheckFinding.Kind, because message: String, sender: DeliveryRecord? = nil,
        in turn: QueueStore.WriterTurn
    ) throws -> FilePath? {
        try turn.write { db in
            let now = try clock.recordTime(db)
            try db.setHolding(kind == .damaged ? .quarantined : .missing, ofCapture: record.sequence)
            for delivery in record.deliveries {
                // The table of states decides: completed, held and cancelled deliveries keep their state.
                _ = try db.apply(
                    .damage, to: delivery, at: now,
                    .init(
                        cause: message, failure: ("spool.\(kind.rawValue)", message),
                        isInDoubt: delivery.number == sender?.number ? delivery.isInDoubt : nil))
            }
        }
        return kind == .damaged ? try? spool.quarantine(record.sha256) : nil
    }
}
