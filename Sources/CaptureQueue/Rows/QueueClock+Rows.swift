import GRDB
import QueueModel

extension QueueClock {
    /// Reads the clocks and judges them by the times that the database remembers.
    func read(_ db: Database) throws -> Reading { read(try Self.memory(db)) }

    static func memory(_ db: Database) throws -> Memory {
        let sql = "SELECT last_seen, boot, anchor_wall, anchor_boot, latest, elapsed, elapsed_at FROM clock"
        let memories = try db.mapped(sql, []) { row in
            let boot = try row.text("boot")
            var anchor: Times?
            if let boot, let wall = try row.time("anchor_wall"), let sinceBoot = try row.integer("anchor_boot") {
                anchor = Times(wall: wall, boot: boot, sinceBoot: .milliseconds(sinceBoot))
            }
            var memory = Memory(lastSeen: try row.needInteger("last_seen"), anchor: anchor)
            (memory.latest, memory.elapsed) = (try row.needInteger("latest"), try row.needInteger("elapsed"))
            memory.looked = try row.integer("elapsed_at").map { Looked(boot: boot ?? "", sinceBoot: $0) }
            return memory
        }
        return memories.first ?? Memory(lastSeen: 0)
    }

    /// Reads the clocks, and stores what the queue remembers of them, to the second.
    func look(_ db: Database) throws -> Reading {
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

    /// Returns the time for stamps in Unix milliseconds.
    func stamp(_ db: Database) throws -> Int { try look(db).stamp }

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
