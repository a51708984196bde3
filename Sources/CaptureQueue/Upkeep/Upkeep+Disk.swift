import GRDB
public import QueueModel

extension UploadQueue.Upkeep {
    /// The room on the disk, and what `push` leaves free.
    public func diskRoom() throws -> DiskRoom {
        let (settings, next) = try queue.store.read { (try QueueSettings($0), try $0.lastBytes()) }
        return try settings.room(at: queue.folder, next: next)
    }

    /// Trusts the wall clock from now on. Later stamps are set to the current time, and nothing waits because of them.
    public func acceptClock() throws {
        try queue.store.write { db in
            let now = try queue.clock.accept(QueueClock.memory(db))
            try QueueClock.remember(now.memory, db)
            for (table, column) in [
                ("captures", "pushed_at"), ("captures", "finished_at"), ("captures", "stored_at"),
                ("deliveries", "completed_at"), ("deliveries", "tried_at"),
            ] {
                try db.run("UPDATE \(table) SET \(column) = ?1 WHERE \(column) > ?1", [now.wall])
            }
            try db.limitWaits(now, from: now.wall, isReset: true)
        }
    }
}
