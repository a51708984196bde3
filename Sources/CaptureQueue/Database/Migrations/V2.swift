import GRDB
import QueueModel
import QueueTransports

/// The second schema adds what sending needs (Spec/queue.md sections 3, 6, 9 and 13).
enum V2 {
    static let name = "v2"

    static func apply(_ db: Database) throws {
        for part in [captures, deliveries, destinations, markers, traffic] { try db.execute(sql: part) }
    }

    /// Adds the hash of the photo, which finds captures with the same photo even after their bytes were released.
    private static let captures = "ALTER TABLE captures ADD COLUMN photo BLOB"

    /// Copies the session to the delivery, so that a claim finds earlier members by one index search.
    private static let deliveries = """
        ALTER TABLE deliveries ADD COLUMN session INTEGER REFERENCES sessions (id);
        ALTER TABLE deliveries ADD COLUMN in_doubt INTEGER NOT NULL DEFAULT 0;
        ALTER TABLE deliveries ADD COLUMN polls INTEGER NOT NULL DEFAULT 0;
        UPDATE deliveries SET session = (SELECT session FROM captures WHERE seq = deliveries.capture);
        CREATE INDEX deliveries_session ON deliveries (session, capture)
            WHERE session IS NOT NULL AND state IN ('pending', 'failed', 'uploading');
        CREATE INDEX deliveries_processing ON deliveries (destination, due) WHERE state = 'processing';
        """

    private static let destinations = """
        ALTER TABLE destinations ADD COLUMN held_code TEXT;
        ALTER TABLE destinations ADD COLUMN paused INTEGER NOT NULL DEFAULT 0;
        CREATE TABLE control (only INTEGER PRIMARY KEY CHECK (only = 1), paused TEXT);
        INSERT INTO control VALUES (1, NULL);
        """

    private static let markers = """
        CREATE TABLE markers (
            session INTEGER NOT NULL REFERENCES sessions (id), destination INTEGER NOT NULL REFERENCES destinations (id),
            ended_at INTEGER NOT NULL, key TEXT NOT NULL, attempts INTEGER NOT NULL DEFAULT 0, due INTEGER NOT NULL,
            sent_at INTEGER, answer TEXT, error TEXT, PRIMARY KEY (session, destination)) WITHOUT ROWID;
        """

    /// Counts the tries that have ended. A try without an end is still under way, or was interrupted.
    private static let traffic = """
        CREATE TABLE traffic (
            destination INTEGER NOT NULL, outcome TEXT NOT NULL, attempts INTEGER NOT NULL, bytes INTEGER NOT NULL,
            milliseconds INTEGER NOT NULL, PRIMARY KEY (destination, outcome)) WITHOUT ROWID;
        CREATE TABLE latency (
            destination INTEGER NOT NULL, at_most INTEGER NOT NULL, attempts INTEGER NOT NULL,
            PRIMARY KEY (destination, at_most)) WITHOUT ROWID;
        CREATE TRIGGER traffic_attempt AFTER UPDATE OF ended_at ON attempts
            WHEN OLD.ended_at IS NULL AND NEW.ended_at IS NOT NULL BEGIN
            INSERT INTO traffic SELECT coalesce(destination, 0), coalesce(NEW.outcome, ''), 1, coalesce(NEW.bytes_sent, 0),
                max(0, NEW.ended_at - NEW.started_at) FROM deliveries WHERE id = NEW.delivery
                ON CONFLICT (destination, outcome) DO UPDATE SET attempts = attempts + 1,
                    bytes = bytes + excluded.bytes, milliseconds = milliseconds + excluded.milliseconds;
            INSERT INTO latency SELECT coalesce(destination, 0), CASE
                WHEN NEW.ended_at - NEW.started_at <= 10 THEN 10 WHEN NEW.ended_at - NEW.started_at <= 100 THEN 100
                WHEN NEW.ended_at - NEW.started_at <= 1000 THEN 1000
                WHEN NEW.ended_at - NEW.started_at <= 10000 THEN 10000
                WHEN NEW.ended_at - NEW.started_at <= 100000 THEN 100000 ELSE 1000000000 END, 1
                FROM deliveries WHERE id = NEW.delivery
                ON CONFLICT (destination, at_most) DO UPDATE SET attempts = attempts + 1;
        END;
        """
}
