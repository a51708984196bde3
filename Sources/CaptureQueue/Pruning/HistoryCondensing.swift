import GRDB
import QueueModel

/// Shortens the history of captures that were released long ago (Spec/queue.md section 8).
struct HistoryCondensing {
    let queue: UploadQueue

    /// How long the whole history is kept, in milliseconds.
    private static let detailed = 30 * 86_400_000

    /// The most steps of one call, each with 500 captures. The first prune of a large queue must not take long.
    private static let steps = 20

    /// Shortens the history of captures whose bytes were released more than 30 days ago. Each delivery keeps the first
    /// and the last change of its state but no attempts. Receipts, ids of servers and `was_tried` stay.
    func run() throws {
        for _ in 0..<Self.steps where try !queue.store.read({ try condensable(limit: 1, $0).isEmpty }) {
            try queue.store.turn { turn in
                try turn.write { db in
                    for sequence in try condensable(limit: 500, db) { try Self.condense(sequence, db) }
                }
                try turn.shrink(pages: 500)
            }
        }
    }

    private func condensable(limit: Int, _ db: Database) throws -> [Int] {
        try db.rows(
            """
            SELECT seq FROM captures INDEXED BY captures_detailed
            WHERE holding = 'removed' AND is_condensed = 0 AND removed_at <= ? ORDER BY removed_at LIMIT ?
            """, [queue.clock.read(db).believed - Self.detailed, limit]
        ).map { try $0.needInteger("seq") }
    }

    /// Shortens the history of one capture. The last row of each table stays, so that no row number is used again.
    private static func condense(_ sequence: Int, _ db: Database) throws {
        for delivery in try db.rows("SELECT id FROM deliveries WHERE capture = ?", [sequence]) {
            let number = try delivery.needInteger("id")
            try db.run(
                """
                UPDATE deliveries SET was_tried = 1
                WHERE id = ?1 AND EXISTS (SELECT 1 FROM attempts WHERE delivery = ?1)
                """, [number])
            try db.run(
                "DELETE FROM attempts WHERE delivery = ? AND id < (SELECT max(id) FROM attempts)", [number])
            try db.run(
                """
                DELETE FROM transitions WHERE delivery = ?1 AND id < (SELECT max(id) FROM transitions)
                    AND id NOT IN (SELECT min(id) FROM transitions WHERE delivery = ?1
                        UNION SELECT max(id) FROM transitions WHERE delivery = ?1)
                """, [number])
        }
        try db.run("UPDATE captures SET is_condensed = 1 WHERE seq = ?", [sequence])
    }
}
