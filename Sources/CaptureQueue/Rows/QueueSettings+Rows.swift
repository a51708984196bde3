import CaptureBundle
import CaptureNative
import GRDB
import QueueFiles
import QueueModel

extension QueueSettings {
    init(_ db: Database) throws {
        self.init()
        for row in try db.rows("SELECT name, value FROM settings") {
            guard let name = Name(rawValue: try row.needText("name")) else { continue }
            let value = try row.needText("value")
            do throws(QueueError) { try set(name, value) } catch {
                throw QueueError.corruptRecord("a setting is not valid: \(error)")
            }
        }
    }

    /// The room on the disk of a queue.
    ///
    /// - Parameters:
    ///   - next: the bytes that the next push will probably need.
    ///   - evictable: the bytes that it can delete for that.
    func room(at folder: QueueFolder, next: Int = 0, evictable: Int = 0) throws(QueueError) -> DiskRoom {
        let space = try onFile(folder.path) { try DiskSpace.at(folder.path) }
        return DiskRoom(freeFloor, free: space.free, size: space.size, next: next, evictable: evictable)
    }
}

extension Database {
    /// The size of the capture that was pushed last, as a measure for the next one.
    func lastBytes() throws -> Int { try integer("SELECT bytes FROM captures ORDER BY seq DESC LIMIT 1") ?? 0 }

    /// All bytes in the spool, including the quarantine.
    func usedBytes(_ spool: Spool) throws -> Int {
        try (integer("SELECT bytes FROM usage") ?? 0) + quarantinedBytes(spool)
    }

    /// The damaged bytes whose captures are not stored again.
    ///
    /// - Parameter sha256: only those of this bundle; nil for all.
    func quarantinedBytes(_ spool: Spool, of sha256: Digest? = nil) throws -> Int {
        try spool.quarantinedBytes { damaged in
            guard let damaged else { return sha256 == nil }
            return try sha256 ?? damaged == damaged && captures(of: damaged, where: "holding = 'spool'") == 0
        }
    }
}

extension QueueStore {
    /// The most that one transfer adds to the log of the database: its claim, and its outcome with a receipt.
    private static let outcome = 131_072

    /// Whether the disk has room to store how this many transfers end. If it has not, room is made: the log is written
    /// into the database, which empties it, and then the reserve is freed.
    func hasRoom(forOutcomes count: Int) -> Bool {
        let (bytes, reserve) = (count * Self.outcome, Reserve(folder: folder))
        func isEnough() -> Bool {
            guard ((try? DiskSpace.free(at: folder.path)) ?? .max) >= bytes else { return false }
            // The free space does not show what a quota allows. The reserve was made when it allowed that much.
            return reserve.exists || folder.lackOfRoom(for: bytes) == nil
        }
        if isEnough() { return true }
        try? turn { try $0.emptyLog() }
        if isEnough() { return true }
        return freesReserve && reserve.delete() && isEnough()
    }

    /// The error of a run that must not send, because it could not store the outcome.
    var noRoom: QueueError {
        let lack = folder.lackOfRoom() ?? "the disk is full"
        return QueueError(
            .inputOutput, "\(lack): nothing is sent, because the outcome could not be stored", of: folder.path,
            cause: .noRoomToSend)
    }
}

extension QueueClock {
    /// Reads the clocks and judges them by the times that the database remembers.
    func read(_ db: Database) throws -> Reading { read(try Self.memory(db)) }

    static func memory(_ db: Database) throws -> Memory {
        let sql = "SELECT last_seen, boot, anchor_wall, anchor_boot, latest, elapsed, elapsed_at FROM clock"
        let memories = try db.mapped(sql, []) { row in
            let boot = try row.text("boot")
            var memory = Memory(lastSeen: try row.needInteger("last_seen"))
            if let boot, let wall = try row.time("anchor_wall"), let sinceBoot = try row.integer("anchor_boot") {
                memory.anchor = Times(wall: wall, boot: boot, sinceBoot: .milliseconds(sinceBoot))
            }
            (memory.latest, memory.elapsed) = (try row.needInteger("latest"), try row.needInteger("elapsed"))
            memory.looked = try row.integer("elapsed_at").map { (boot ?? "", $0) }
            return memory
        }
        return memories.first ?? Memory(lastSeen: 0)
    }

    /// Reads the clocks, and stores what the queue remembers of them, to the second.
    func observe(_ db: Database) throws -> Reading {
        let before = try Self.memory(db)
        let reading = read(before)
        let after = reading.memory
        let passed = max(
            after.lastSeen - before.lastSeen, after.latest - before.latest, after.elapsed - before.elapsed)
        if passed >= 1000 || after.looked?.boot != before.looked?.boot || after.anchor != before.anchor {
            try Self.remember(after, db)
        }
        return reading
    }

    /// Returns the time for records in Unix milliseconds.
    func recordTime(_ db: Database) throws -> Int { try observe(db).recordTime }

    static func remember(_ memory: Memory, _ db: Database) throws {
        try db.run(
            """
            INSERT INTO clock (only, last_seen, boot, anchor_wall, anchor_boot, latest, elapsed, elapsed_at)
            VALUES (1, ?, ?, ?, ?, ?, ?, ?)
            ON CONFLICT (only) DO UPDATE SET last_seen = excluded.last_seen, boot = excluded.boot,
                anchor_wall = excluded.anchor_wall, anchor_boot = excluded.anchor_boot, latest = excluded.latest,
                elapsed = excluded.elapsed, elapsed_at = excluded.elapsed_at
            """,
            [
                memory.lastSeen, memory.looked?.boot, memory.anchor?.wall, memory.anchor?.sinceBoot, memory.latest,
                memory.elapsed, memory.looked?.sinceBoot,
            ])
    }
}
