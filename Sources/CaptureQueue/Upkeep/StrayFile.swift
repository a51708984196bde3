import CaptureBundle
import CaptureNative
import GRDB
import QueueModel

/// A bundle in the spool that no row names.
struct StrayFile {
    let queue: UploadQueue
    let sha256: Digest

    enum Adoption {
        /// The capture was added. Its deliveries are held, because the bundle does not show whether they were sent or
        /// cancelled before, for example if the database was restored from a backup.
        case held
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
                known.holding == .spool, try SpoolReader(queue.spool).matches(known.sha256)
            {
                // It is the same capture under another signature. The queue has one copy; the other one is set aside.
                _ = try queue.spool.quarantine(sha256)
                return .copy
            }
            try queue.spool.settle([sha256])
            let adoption = try turn.write { db -> Adoption in
                let now = try queue.clock.look(db)
                if let known = try CaptureRecord.one(db, identity: facts.identity) {
                    // The row had lost its bytes.
                    try db.setBytes(facts, ofCapture: known.sequence, at: now.stamp)
                    try db.restore(known.deliveries, at: now, cause: "found in the spool")
                    return .restored
                }
                try db.insertFound(
                    facts, sidecar, id: db.freeID(facts.bundleID), holding: .spool, state: .held, at: now)
                return .held
            }
            if let record = try queue.store.read({ try CaptureRecord.one($0, identity: facts.identity) }) {
                // Without this, a salvage would trust the sidecar of the push that was killed, or find none.
                try queue.spool.remove(RetentionPolicy.permitToReplaceSidecar(sha256))
                try queue.writeSidecar(of: record)
            }
            return adoption
        }
    }

    /// - Returns: false if something still needs the sidecar.
    func removeSidecar() throws -> Bool {
        try queue.store.turn { _ in
            let rows = try queue.store.read {
                try $0.integer(
                    "SELECT count(*) FROM captures WHERE sha256 = ? AND holding = 'reference'", [sha256.data])
            }
            let hasBundle = FileStatus.exists(queue.folder.bundlePath(sha256))
            guard let permit = RetentionPolicy.permitForSidecar(sha256, rows: rows ?? 1, hasBundle: hasBundle) else {
                return false
            }
            try queue.spool.remove(permit)
            return true
        }
    }
}

extension Database {
    /// Adds a capture that was found in the spool.
    func insertFound(
        _ facts: CaptureFacts, _ sidecar: Sidecar?, id: String, holding: Holding, reference: String? = nil,
        state: DeliveryState, at now: QueueClock.Reading
    ) throws {
        // An invalid session name is no reason to drop the bundle.
        let session = sidecar?.session.flatMap { try? self.session($0, reopens: true, at: now.stamp) }
        try insertCapture(
            CaptureRow(
                id: id, facts: facts, pushedAt: sidecar?.pushedAt.milliseconds ?? now.stamp, session: session,
                priority: sidecar?.priority ?? 0, holding: holding, reference: reference),
            destinations: destinations(of: sidecar),
            start: DeliveryStart(now, notBefore: sidecar?.notBefore), at: now.stamp, state: state,
            cause: "salvaged")
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
            destinations: record.deliveries.compactMap(\.destination), reference: record.reference)
        let path = folder.sidecarPath(record.sha256)
        do throws(NativeError) {
            try AtomicFile.write(sidecar.encoded, to: path, mode: 0o600, existing: .refuse)
        } catch  where error.isExisting {
            // Another process has written it meanwhile.
        } catch {
            throw QueueError.file(path, error)
        }
    }
}
