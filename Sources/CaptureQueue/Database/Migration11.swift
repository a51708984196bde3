import GRDB

/// Version 11 of the database, after that of release 1.0.0 (Spec/queue.md section 3).
enum Migration11 {
    /// Rises until the release of this version. Databases of the earlier numbers are refused.
    private static let number = 9
    static let name = "v11.\(number)"
    static let unreleased = (0..<number).map { "v11.\($0)" }

    static func apply(_ db: Database) throws {
        for part in [copies, ends, found, claims, waits, digests] + blocks + order { try db.execute(sql: part) }
    }

    /// Doubt about the copy in a folder for which a receipt of 1.0 speaks: it was not synced again under its name. A receipt
    /// of `mark-uploaded` is the user's word. Whatever changes receipt or state ends the doubt.
    private static let copies = """
        ALTER TABLE deliveries ADD COLUMN copy TEXT;
        CREATE INDEX deliveries_copy ON deliveries (destination, copy, id) WHERE copy IS NOT NULL;
        CREATE TRIGGER deliveries_copy_ends AFTER UPDATE OF state, receipt ON deliveries
            WHEN OLD.copy IS NOT NULL AND NEW.copy IS OLD.copy
                AND (NEW.state <> 'completed' OR NEW.receipt IS NOT OLD.receipt)
        BEGIN UPDATE deliveries SET copy = NULL WHERE id = NEW.id; END;
        UPDATE deliveries SET copy = 'unseen' WHERE state = 'completed'
            AND destination IN (SELECT id FROM destinations WHERE kind = 'folder')
            AND capture IN (SELECT seq FROM captures WHERE holding IN ('spool', 'reference'))
            AND CASE WHEN json_valid(receipt) THEN json_extract(receipt, '$.kind') IS 'folder'
                AND json_extract(receipt, '$.name_synced') IS NULL ELSE 0 END
            AND (SELECT event FROM transitions WHERE delivery = deliveries.id AND event IN ('complete', 'record')
                ORDER BY id DESC LIMIT 1) = 'complete';
        """

    /// Ends of sessions have numbers, because two ends can have one time. A report counts for the end of its number, until a
    /// member lands that it lacks. In 1.0 a report of an earlier end could look like that of the last one: then no
    /// destination had accepted the last one (`sessions.marker`).
    private static let ends = """
        ALTER TABLE sessions ADD COLUMN end_number INTEGER NOT NULL DEFAULT 0;
        ALTER TABLE markers ADD COLUMN end_number INTEGER NOT NULL DEFAULT 0;
        ALTER TABLE markers ADD COLUMN last_change INTEGER NOT NULL DEFAULT 0;
        UPDATE sessions SET end_number = 1 WHERE ended_at IS NOT NULL;
        UPDATE markers SET last_change = \(lastChange), end_number = EXISTS (SELECT 1 FROM sessions
            WHERE id = markers.session AND ended_at = markers.ended_at AND (markers.sent_at IS NULL OR marker IS NOT NULL));
        CREATE TRIGGER markers_outdated AFTER UPDATE OF state ON deliveries
            WHEN NEW.session IS NOT NULL AND NEW.state = 'completed' AND OLD.state <> 'completed'
        BEGIN
            UPDATE markers SET end_number = 0 WHERE session = NEW.session AND destination = NEW.destination
                AND (SELECT to_state FROM transitions WHERE delivery = NEW.id AND id <= last_change ORDER BY id DESC LIMIT 1)
                    IS NOT 'completed';
            UPDATE sessions SET marker = NULL WHERE id = NEW.session AND marker IS NOT NULL AND EXISTS (SELECT 1 FROM markers
                WHERE session = NEW.session AND destination = NEW.destination AND end_number = 0);
        END;
        """

    /// What had landed when a report was made is what was completed by this change.
    static let lastChange = "(SELECT coalesce(max(id), 0) FROM transitions)"

    /// `adopt` holds captures, too.
    private static let found = """
        DROP INDEX transitions_salvaged;
        CREATE INDEX transitions_salvaged ON transitions (delivery) WHERE cause IN ('salvaged', 'adopted') AND to_state = 'held';
        """

    /// The order of pushes, as in the sidecars. Rows of 1.0 have none and keep that of their row numbers.
    private static let order =
        ["captures", "deliveries"].map {
            """
            ALTER TABLE \($0) ADD COLUMN order_after INTEGER;
            ALTER TABLE \($0) ADD COLUMN order_position INTEGER NOT NULL DEFAULT 0;
            """
        } + [
            """
            DROP TRIGGER session_order_insert;
            DROP TRIGGER session_order_update;
            DROP INDEX deliveries_session;
            CREATE INDEX deliveries_session ON deliveries (destination, session, \(SessionOrder.columns))
                WHERE session IS NOT NULL AND state IN ('pending', 'failed', 'uploading');
            """
        ] + SessionOrder.triggers(by: SessionOrder.columns)

    /// What was found out about the digests that a store shows (`DigestTraits`).
    private static let digests = """
        ALTER TABLE destinations ADD COLUMN refuses_wrong INTEGER;
        ALTER TABLE destinations ADD COLUMN has_md5_etags INTEGER NOT NULL DEFAULT 1;
        """

    private static let blocks = ["outage", "blocked_cause"].map { "ALTER TABLE destinations ADD COLUMN \($0) TEXT;" }

    /// Each claim belongs to the run that has `run.lock`, so that it needs no lease and no owner. A claim of a run that was
    /// killed, or that the user interrupted, still has its token.
    private static let claims = """
        DROP INDEX deliveries_under_way;
        ALTER TABLE deliveries DROP COLUMN owner;
        ALTER TABLE deliveries DROP COLUMN lease_until;
        CREATE INDEX deliveries_claimed ON deliveries (id) WHERE token IS NOT NULL;
        """

    /// Since when a delivery waits. A capture of 1.0 waits since its push, or since its `not_before`.
    private static let waits = """
        ALTER TABLE deliveries ADD COLUMN waits_from INTEGER NOT NULL DEFAULT 0;
        UPDATE deliveries SET waits_from = max(coalesce(not_before, 0), (SELECT pushed_at FROM captures WHERE seq = capture))
            WHERE state IN ('pending', 'failed', 'uploading', 'processing');
        DROP INDEX captures_deferred;
        DROP INDEX deliveries_waiting;
        CREATE INDEX deliveries_waiting ON deliveries (destination, waits_from) WHERE state IN ('pending', 'failed', 'uploading', 'processing');
        """
}
