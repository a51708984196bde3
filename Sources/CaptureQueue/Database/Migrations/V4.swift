import GRDB

/// What `status` reads: deliveries by destination and state, without counting a million rows each time.
enum V4 {
    static let name = "v4"

    static func apply(_ db: Database) throws {
        for part in [totals, indexes] { try db.execute(sql: part) }
    }

    /// The destination is 0 where a delivery has none, as in `traffic`. Deliveries are never deleted.
    private static let totals = """
        CREATE TABLE delivery_totals (
            destination INTEGER NOT NULL, state TEXT NOT NULL, deliveries INTEGER NOT NULL, bytes INTEGER NOT NULL,
            PRIMARY KEY (destination, state)) WITHOUT ROWID;
        INSERT INTO delivery_totals SELECT coalesce(destination, 0), deliveries.state, count(*), sum(bytes)
            FROM deliveries JOIN captures ON seq = capture GROUP BY 1, 2;
        CREATE TRIGGER delivery_totals_insert AFTER INSERT ON deliveries BEGIN
            INSERT INTO delivery_totals SELECT coalesce(NEW.destination, 0), NEW.state, 1, bytes
                FROM captures WHERE seq = NEW.capture
                ON CONFLICT (destination, state) DO UPDATE SET deliveries = deliveries + 1,
                    bytes = bytes + excluded.bytes;
        END;
        CREATE TRIGGER delivery_totals_update AFTER UPDATE OF state, destination ON deliveries
            WHEN OLD.state <> NEW.state OR OLD.destination IS NOT NEW.destination BEGIN
            UPDATE delivery_totals SET deliveries = deliveries - 1,
                bytes = bytes - (SELECT bytes FROM captures WHERE seq = OLD.capture)
                WHERE destination = coalesce(OLD.destination, 0) AND state = OLD.state;
            INSERT INTO delivery_totals SELECT coalesce(NEW.destination, 0), NEW.state, 1, bytes
                FROM captures WHERE seq = NEW.capture
                ON CONFLICT (destination, state) DO UPDATE SET deliveries = deliveries + 1,
                    bytes = bytes + excluded.bytes;
        END;
        CREATE TRIGGER delivery_totals_bytes AFTER UPDATE OF bytes ON captures WHEN OLD.bytes <> NEW.bytes BEGIN
            UPDATE delivery_totals SET bytes = bytes + NEW.bytes - OLD.bytes WHERE (destination, state) IN
                (SELECT coalesce(destination, 0), state FROM deliveries WHERE capture = NEW.seq);
        END;
        """

    /// Of each destination the oldest capture that waits; captures that were told to wait; what a salvage held.
    private static let indexes = """
        CREATE INDEX deliveries_waiting ON deliveries (destination, capture)
            WHERE state IN ('pending', 'failed', 'uploading', 'processing');
        CREATE INDEX captures_deferred ON captures (not_before)
            WHERE not_before IS NOT NULL AND state NOT IN ('completed', 'cancelled');
        CREATE INDEX transitions_salvaged ON transitions (delivery) WHERE cause = 'salvaged' AND to_state = 'held';
        """
}
