import CaptureNative
import GRDB
import QueueFiles
public import QueueModel
import SystemPackage

extension QueueStatus.Total {
    /// Reads the columns `captures` and `bytes`.
    init(row: Row) throws {
        self.init(captures: try row.needInteger("captures"), bytes: try row.needInteger("bytes"))
    }
}

extension UploadQueue {
    public func status() throws -> QueueStatus {
        try store.read { db in
            let reading = try clock.read(db)
            var status = QueueStatus(try QueueSettings(db))
            for row in try db.rows("SELECT * FROM totals WHERE captures > 0") {
                status.totals[try row.state("state")] = try .init(row: row)
            }
            (status.usedBytes, status.nextBytes) = (try db.usedBytes(spool), try db.lastBytes())
            (status.quarantinedBytes, status.quarantine) = (try db.quarantinedBytes(spool), folder.quarantine)
            addDisk(to: &status)
            status.prunable = try prunable(status, db)
            let evictable = status.settings.evictsUploaded ? status.prunable?.bytes ?? 0 : 0
            status.room = try? status.settings.room(at: folder, next: status.nextBytes, evictable: evictable)
            status.isSpoolAbsent = try (db.integer("SELECT files FROM usage") ?? 0) > 0 && spool.shards().isEmpty
            status.partsOnly = try Self.partsOnly(db)
            status.sessions = try Self.sessionCounts(db)
            // Ages go by the wall clock: the time for records can be far ahead after a clock was wrong.
            status.work = try DestinationWork.all(db, at: reading.wall)
            status.traffic = try Traffic.all(db)
            status.isPaused = try db.text("SELECT paused FROM control") != nil
            status.clockDoubt = reading.doubt
            if let inbox = status.settings.inbox {
                (status.leftInInbox, status.inboxFault) = Inbox.standing(FilePath(inbox), at: reading.wall)
            }
            return status
        }
    }

    /// What the free space does not show.
    private func addDisk(to status: inout QueueStatus) {
        status.disk = DiskKind.of(folder.path)
        status.folderApart = folder.folderApart
        status.freeInodes = (try? DiskSpace.at(folder.path))?.freeInodes
        status.takenByRoot = Reserve(folder: folder).takenByRoot
        let next = status.nextBytes + Reserve.size
        status.isQuotaFull = DiskSpace.refusal(of: next, in: folder.incoming)?.isQuotaFull ?? false
        status.encryption = StorageEncryption(of: folder.spool)
        // Nothing is pushed into a backup.
        let isBackup = FileStatus.exists(BackupMark.path(in: folder))
        if !isBackup, let (place, error) = folder.unwritable {
            if error.isReadOnlyDisk { status.isDiskReadOnly = true } else { status.unwritableFolder = place }
        }
        status.isUnencrypted = !isBackup && status.settings.requiresEncryption && status.encryption == .unknown
    }

    /// What can be deleted if room is short, after another capture of `next` bytes. Of many captures only the oldest are
    /// looked at, so that a long-used queue takes no longer.
    private func prunable(_ status: QueueStatus, _ db: Database) throws -> Prunable? {
        let (used, next, settings) = (status.usedBytes, status.nextBytes, status.settings)
        let room = try? settings.room(at: folder, next: next)
        let isLow = room?.isLow ?? false
        let short = max(
            used - settings.warnAt, settings.limit.map { used + max(next, 1) - $0 } ?? 0,
            isLow ? max(1, (room?.floor ?? 0) + next - (room?.free ?? 0)) : 0,
            status.isQuotaFull ? next + Reserve.size : 0,
            // How many files that frees does not follow from the bytes: all that can go.
            status.isLowOnInodes ? 1 << 50 : 0)
        return short > 0 ? try Eviction(queue: self).prunable(bytes: short, looks: 100, db) : nil
    }

    private static func partsOnly(_ db: Database) throws -> QueueStatus.Total {
        let row = try db.row(
            """
            SELECT count(*) AS captures, coalesce(sum(bytes), 0) AS bytes FROM captures INDEXED BY captures_parts
            WHERE parts_only = 1 AND holding IN ('spool', 'reference')
            """)
        return try row.map { try .init(row: $0) } ?? .none
    }

    private static func sessionCounts(_ db: Database) throws -> QueueStatus.Sessions {
        // A filter leaves out the rest of a condition once it is known.
        let row = try db.row(
            """
            SELECT count(*) AS every, count(ended_at) AS ended, count(*) FILTER (WHERE \(Session.due)) AS due FROM sessions
            """)
        let (every, ended) = (try row?.needInteger("every") ?? 0, try row?.needInteger("ended") ?? 0)
        return .init(open: every - ended, ended: ended, due: try row?.needInteger("due") ?? 0)
    }
}

extension UploadQueue.Sessions {
    public func list() throws -> [Session] { try queue.store.read { try Session.all($0) } }

    /// Ends a session: it takes no further captures, and is due once all its members have landed.
    ///
    /// - Parameter isIncomplete: whether members that failed or were cancelled count as landed.
    /// - Throws: `session.unknown`.
    @discardableResult
    public func end(_ name: String, isIncomplete: Bool = false) throws -> Session {
        try queue.store.write { db in
            let now = try queue.clock.recordTime(db)
            try db.run(
                """
                UPDATE sessions SET end_number = end_number + (ended_at IS NULL), ended_at = coalesce(ended_at, ?),
                    incomplete = max(incomplete, ?) WHERE name = ?
                """, [now, isIncomplete ? 1 : 0, name])
            guard let session = try Session.all(db, "WHERE name = ?", [name]).first else {
                throw QueueError(.sessionUnknown, "no such session", of: name)
            }
            return session
        }
    }
}
