import GRDB
public import QueueModel

extension UploadQueue.Sessions {
    public func list() throws -> [Session] { try queue.store.read { try Session.all($0) } }

    /// Ends a session: it takes no further captures, and is due once all its members have landed.
    ///
    /// - Parameter isIncomplete: whether members that failed or were cancelled count as landed.
    /// - Throws: `session.unknown`.
    @discardableResult
    public func end(_ name: String, isIncomplete: Bool = false) throws -> Session {
        try queue.store.write { db in
            let now = try queue.clock.stamp(db)
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
