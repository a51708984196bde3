import GRDB

extension V3 {
    /// Adds the time when bytes were stored and the part that a delivery sent, and gives each delivery a destination.
    ///
    /// It reads no bundle and cancels nothing.
    static func captures(_ db: Database) throws {
        for part in [columns, refusal, indexes, unbound, merging, states] { try db.execute(sql: part) }
    }

    private static let columns = """
        ALTER TABLE captures ADD COLUMN stored_at INTEGER;
        ALTER TABLE captures ADD COLUMN parts_only INTEGER NOT NULL DEFAULT 0;
        ALTER TABLE captures ADD COLUMN is_condensed INTEGER NOT NULL DEFAULT 0;
        ALTER TABLE deliveries ADD COLUMN part TEXT;
        ALTER TABLE deliveries ADD COLUMN was_tried INTEGER NOT NULL DEFAULT 0;
        ALTER TABLE destinations ADD COLUMN is_retired INTEGER NOT NULL DEFAULT 0;
        ALTER TABLE destinations ADD COLUMN former_names TEXT NOT NULL DEFAULT '';
        ALTER TABLE markers ADD COLUMN is_claimed INTEGER NOT NULL DEFAULT 0;
        UPDATE captures SET stored_at = pushed_at;
        UPDATE deliveries SET part = 'photo' WHERE state = 'completed'
            AND CASE WHEN json_valid(receipt) THEN json_extract(receipt, '$.part') END = 'photo';
        """

    /// Makes a push of an earlier version fail if it is still running during the migration. Otherwise it would leave
    /// deliveries without a destination. The failed push has acknowledged nothing.
    private static let refusal = """
        CREATE TRIGGER captures_version BEFORE INSERT ON captures WHEN NEW.stored_at IS NULL BEGIN
            SELECT RAISE(ABORT, 'written by an earlier version');
        END;
        """

    private static let indexes = """
        DROP INDEX captures_finished;
        CREATE INDEX captures_releasable ON captures (max(finished_at, stored_at))
            WHERE finished_at IS NOT NULL AND parts_only = 0 AND holding IN ('spool', 'reference');
        CREATE INDEX captures_parts ON captures (seq) WHERE parts_only = 1 AND holding IN ('spool', 'reference');
        CREATE INDEX captures_detailed ON captures (removed_at) WHERE holding = 'removed' AND is_condensed = 0;
        CREATE INDEX captures_photo ON captures (photo);
        DROP INDEX deliveries_session;
        CREATE INDEX deliveries_session ON deliveries (destination, session, capture)
            WHERE session IS NOT NULL AND state IN ('pending', 'failed', 'uploading');
        """

    /// Finds deliveries without a destination. `other` is the same capture's delivery to the default destination.
    private static let unbound = """
        UPDATE destinations SET is_default = 1 WHERE id = (SELECT min(id) FROM destinations)
            AND NOT EXISTS (SELECT 1 FROM destinations WHERE is_default = 1);
        CREATE TEMP TABLE unbound (
            delivery INTEGER PRIMARY KEY, capture INTEGER, state TEXT, destination INTEGER, other INTEGER, other_state TEXT);
        INSERT INTO unbound SELECT mine.id, mine.capture, mine.state, destinations.id, other.id, other.state
            FROM deliveries AS mine JOIN destinations ON is_default = 1
            LEFT JOIN deliveries AS other ON other.capture = mine.capture AND other.destination = destinations.id
            WHERE mine.destination IS NULL AND mine.state <> 'completed';
        """

    /// Merges the two deliveries. One that was cancelled at the default destination is held, so that the user decides.
    private static let merging = """
        UPDATE deliveries SET destination = (SELECT id FROM destinations WHERE is_default = 1)
            WHERE id IN (SELECT delivery FROM unbound WHERE other IS NULL);
        UPDATE transitions SET delivery = (SELECT other FROM unbound WHERE unbound.delivery = transitions.delivery)
            WHERE delivery IN (SELECT delivery FROM unbound WHERE other IS NOT NULL);
        UPDATE attempts SET delivery = (SELECT other FROM unbound WHERE unbound.delivery = attempts.delivery)
            WHERE delivery IN (SELECT delivery FROM unbound WHERE other IS NOT NULL);
        INSERT INTO transitions (delivery, at, from_state, to_state, event, cause)
            SELECT other, coalesce((SELECT last_seen FROM clock), 0), column1, column2, column3,
                'waited for the default destination, too'
            FROM unbound JOIN (VALUES ('cancelled', 'pending', 'push'), ('pending', 'held', 'hold'))
            WHERE other_state = 'cancelled' AND state <> 'cancelled' ORDER BY other, column3 DESC;
        UPDATE deliveries SET state = 'held'
            WHERE id IN (SELECT other FROM unbound WHERE other_state = 'cancelled' AND state <> 'cancelled');
        DELETE FROM deliveries WHERE id IN (SELECT delivery FROM unbound WHERE other IS NOT NULL);
        """

    private static let states = """
        UPDATE captures SET state = (SELECT state FROM deliveries WHERE capture = seq ORDER BY CASE state
            WHEN 'quarantined' THEN 0 WHEN 'conflict' THEN 1 WHEN 'permanently_failed' THEN 2 WHEN 'failed' THEN 3
            WHEN 'held' THEN 4 WHEN 'uploading' THEN 5 WHEN 'processing' THEN 6 WHEN 'pending' THEN 7
            WHEN 'completed' THEN 8 ELSE 9 END LIMIT 1)
            WHERE seq IN (SELECT capture FROM unbound WHERE other IS NOT NULL);
        UPDATE captures SET finished_at = (SELECT max(completed_at) FROM deliveries WHERE capture = seq)
            WHERE state = 'completed' AND seq IN (SELECT capture FROM unbound WHERE other IS NOT NULL);
        DROP TABLE unbound;
        UPDATE captures SET parts_only = 1 WHERE state = 'completed' AND NOT EXISTS (
            SELECT 1 FROM deliveries WHERE capture = seq AND state = 'completed' AND part IS NULL);
        """
}
