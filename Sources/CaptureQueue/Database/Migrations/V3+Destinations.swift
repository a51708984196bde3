import GRDB

extension V3 {
    /// Adds the reason of a block, the streaks of failures and refusals, and the time of a delivery's last try.
    static func destinations(_ db: Database) throws {
        for part in [blocks, words, order] { try db.execute(sql: part) }
    }

    private static let blocks = """
        ALTER TABLE destinations RENAME COLUMN held_code TO blocked_reason;
        ALTER TABLE destinations RENAME COLUMN held_reason TO blocked_message;
        ALTER TABLE destinations RENAME COLUMN held_until TO blocked_until;
        ALTER TABLE destinations ADD COLUMN blocked_for INTEGER;
        ALTER TABLE destinations ADD COLUMN failures TEXT NOT NULL DEFAULT '';
        ALTER TABLE destinations ADD COLUMN refusals TEXT NOT NULL DEFAULT '';
        ALTER TABLE destinations ADD COLUMN unproven TEXT NOT NULL DEFAULT '';
        ALTER TABLE destinations ADD COLUMN lifts INTEGER NOT NULL DEFAULT 0;
        """

    /// Renames the reasons. Version 1 stored no reason. Version 2 stored `lifted` after the user had lifted a block.
    private static let words = """
        UPDATE destinations SET blocked_reason = 'failing' WHERE blocked_reason = 'breaker';
        UPDATE destinations SET blocked_reason = NULL, blocked_message = NULL, blocked_until = NULL
            WHERE blocked_until IS NULL OR blocked_reason IS NULL OR blocked_reason NOT IN
                ('wait', 'full', 'credentials', 'endpoint', 'tls', 'offline', 'local', 'failing');
        UPDATE attempts SET outcome = 'blocked' WHERE outcome = 'held';
        UPDATE traffic SET outcome = 'blocked' WHERE outcome = 'held';
        """

    /// Orders tried deliveries behind the others. The last index shows whether another capture has landed since a try.
    private static let order = """
        ALTER TABLE deliveries ADD COLUMN tried_at INTEGER;
        UPDATE deliveries SET tried_at = (SELECT max(coalesce(ended_at, started_at)) FROM attempts
            WHERE delivery = deliveries.id) WHERE state <> 'completed';
        DROP INDEX deliveries_ready;
        CREATE INDEX deliveries_untried ON deliveries (destination, priority DESC, due, id)
            WHERE state IN ('pending', 'failed') AND tried_at IS NULL;
        CREATE INDEX deliveries_tried ON deliveries (destination, due, id)
            WHERE state IN ('pending', 'failed') AND tried_at IS NOT NULL;
        CREATE INDEX deliveries_landed ON deliveries (destination, completed_at) WHERE completed_at IS NOT NULL;
        """
}
