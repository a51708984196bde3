import GRDB
import QueueModel

extension QueueClock {
    /// Reads the clocks and judges them by the times that the database remembers.
    func read(_ db: Database) throws -> Reading {
        guard let row = try db.row("SELECT * FROM clock") else { return read(Memory(lastSeen: 0)) }
        var anchor: Times?
        if let boot = try row.text("boot"), let wall = try row.integer("anchor_wall"),
            let sinceBoot = try row.integer("anchor_boot")
        {
            anchor = Times(wall: wall, boot: boot, sinceBoot: sinceBoot)
        }
        return read(Memory(lastSeen: try row.needInteger("last_seen"), anchor: anchor))
    }

    /// Returns the time for stamps in Unix milliseconds. The last time seen is stored, to the second.
    func stamp(_ db: Database) throws -> Int {
        let reading = try read(db)
        let known = try db.integer("SELECT last_seen FROM clock")
        let boot = try db.text("SELECT boot FROM clock")
        if known.map({ reading.memory.lastSeen - $0 >= 1000 }) ?? true || boot != reading.memory.anchor?.boot {
            try Self.remember(reading.memory, db)
        }
        return reading.stamp
    }

    static func remember(_ memory: Memory, _ db: Database) throws {
        try db.run(
            """
            INSERT INTO clock (only, last_seen, boot, anchor_wall, anchor_boot) VALUES (1, ?, ?, ?, ?)
            ON CONFLICT (only) DO UPDATE SET last_seen = excluded.last_seen, boot = excluded.boot,
                anchor_wall = excluded.anchor_wall, anchor_boot = excluded.anchor_boot
            """,
            [memory.lastSeen, memory.anchor?.boot, memory.anchor?.wall, memory.anchor?.sinceBoot])
    }
}
