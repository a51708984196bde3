import GRDB
import QueueModel
import QueueTransports

/// The first schema (Spec/queue.md section 3). It is never edited after a release; later versions have their own files.
enum V1 {
    static let name = "v1"

    static func apply(_ db: Database) throws {
        for part in [settings, captures, deliveries, history, totals, usage] { try db.execute(sql: part) }
    }

    private static let settings = """
        CREATE TABLE settings (name TEXT PRIMARY KEY, value TEXT NOT NULL) WITHOUT ROWID;
        INSERT INTO settings VALUES ('free-floor', 'default');
        CREATE TABLE clock (
            only INTEGER PRIMARY KEY CHECK (only = 1),
            last_seen INTEGER NOT NULL, boot TEXT, anchor_wall INTEGER, anchor_boot INTEGER, warned_at INTEGER);
        CREATE TABLE destinations (
            id INTEGER PRIMARY KEY AUTOINCREMENT,
            name TEXT NOT NULL UNIQUE, kind TEXT NOT NULL, settings TEXT NOT NULL,
            is_default INTEGER NOT NULL DEFAULT 0, held_until INTEGER, held_reason TEXT, added_at INTEGER NOT NULL);
        CREATE UNIQUE INDEX destinations_default ON destinations (is_default) WHERE is_default = 1;
        CREATE TABLE sessions (
            id INTEGER PRIMARY KEY AUTOINCREMENT,
            name TEXT NOT NULL UNIQUE, opened_at INTEGER NOT NULL, ended_at INTEGER,
            incomplete INTEGER NOT NULL DEFAULT 0, marker TEXT);
        """

    /// Creates the captures. They need no AUTOINCREMENT, which would write one more page each time: the last row of
    /// captures, deliveries, transitions and attempts is never deleted, so numbers are never used again.
    private static let captures = """
        CREATE TABLE captures (
            seq INTEGER PRIMARY KEY,
            id TEXT NOT NULL UNIQUE, identity BLOB NOT NULL UNIQUE, sha256 BLOB NOT NULL,
            manifest_sha256 BLOB NOT NULL, bytes INTEGER NOT NULL, captured_at INTEGER NOT NULL, device BLOB NOT NULL,
            verdict TEXT NOT NULL, pushed_at INTEGER NOT NULL, session INTEGER REFERENCES sessions (id),
            priority INTEGER NOT NULL DEFAULT 0, not_before INTEGER, holding TEXT NOT NULL, reference TEXT,
            state TEXT NOT NULL, finished_at INTEGER, removed_at INTEGER);
        CREATE INDEX captures_sha256 ON captures (sha256);
        CREATE INDEX captures_state ON captures (state, seq);
        CREATE INDEX captures_session ON captures (session, state) WHERE session IS NOT NULL;
        CREATE INDEX captures_finished ON captures (finished_at)
            WHERE finished_at IS NOT NULL AND holding IN ('spool', 'reference');
        CREATE INDEX captures_removing ON captures (seq) WHERE holding = 'removing';
        """

    /// Creates the deliveries. `deliveries_ready` has the order in which they are claimed, without the finished ones.
    private static let deliveries = """
        CREATE TABLE deliveries (
            id INTEGER PRIMARY KEY,
            capture INTEGER NOT NULL REFERENCES captures (seq), destination INTEGER REFERENCES destinations (id),
            state TEXT NOT NULL, priority INTEGER NOT NULL, due INTEGER NOT NULL, attempts INTEGER NOT NULL DEFAULT 0,
            token BLOB, owner TEXT, lease_until INTEGER, completed_at INTEGER, receipt TEXT, remote_id TEXT,
            remote_url TEXT, idempotency_key TEXT, error_code TEXT, error_message TEXT);
        CREATE UNIQUE INDEX deliveries_capture ON deliveries (capture, coalesce(destination, 0));
        CREATE INDEX deliveries_ready ON deliveries (destination, priority DESC, due, id)
            WHERE state IN ('pending', 'failed');
        CREATE INDEX deliveries_under_way ON deliveries (lease_until) WHERE state = 'uploading';
        """

    private static let history = """
        CREATE TABLE transitions (
            id INTEGER PRIMARY KEY,
            delivery INTEGER NOT NULL REFERENCES deliveries (id), at INTEGER NOT NULL, from_state TEXT,
            to_state TEXT NOT NULL, event TEXT NOT NULL, cause TEXT);
        CREATE INDEX transitions_delivery ON transitions (delivery);
        CREATE TABLE attempts (
            id INTEGER PRIMARY KEY,
            delivery INTEGER NOT NULL REFERENCES deliveries (id), number INTEGER NOT NULL, token BLOB NOT NULL,
            started_at INTEGER NOT NULL, ended_at INTEGER, outcome TEXT, code TEXT, message TEXT, bytes_sent INTEGER);
        CREATE INDEX attempts_delivery ON attempts (delivery);
        """

    /// Keeps counts up to date with each change, because counting a million rows takes a third of a second.
    private static let totals = """
        CREATE TABLE totals (state TEXT PRIMARY KEY, captures INTEGER NOT NULL, bytes INTEGER NOT NULL) WITHOUT ROWID;
        CREATE TRIGGER totals_insert AFTER INSERT ON captures BEGIN
            INSERT INTO totals VALUES (NEW.state, 1, NEW.bytes)
                ON CONFLICT (state) DO UPDATE SET captures = captures + 1, bytes = bytes + NEW.bytes;
        END;
        CREATE TRIGGER totals_update AFTER UPDATE OF state, bytes ON captures
            WHEN OLD.state <> NEW.state OR OLD.bytes <> NEW.bytes BEGIN
            UPDATE totals SET captures = captures - 1, bytes = bytes - OLD.bytes WHERE state = OLD.state;
            INSERT INTO totals VALUES (NEW.state, 1, NEW.bytes)
                ON CONFLICT (state) DO UPDATE SET captures = captures + 1, bytes = bytes + NEW.bytes;
        END;
        """

    /// Counts the bytes in the folder `spool`. Files in quarantine are counted in their own folder.
    private static let usage = """
        CREATE TABLE usage (only INTEGER PRIMARY KEY CHECK (only = 1), bytes INTEGER NOT NULL, files INTEGER NOT NULL);
        INSERT INTO usage VALUES (1, 0, 0);
        CREATE TRIGGER usage_insert AFTER INSERT ON captures WHEN NEW.holding = 'spool' BEGIN
            UPDATE usage SET bytes = bytes + NEW.bytes, files = files + 1;
        END;
        CREATE TRIGGER usage_update AFTER UPDATE OF holding, bytes ON captures
            WHEN OLD.holding <> NEW.holding OR OLD.bytes <> NEW.bytes BEGIN
            UPDATE usage SET
                bytes = bytes + CASE WHEN NEW.holding IN ('spool', 'removing') AND NEW.reference IS NULL
                    THEN NEW.bytes ELSE 0 END
                    - CASE WHEN OLD.holding IN ('spool', 'removing') AND OLD.reference IS NULL THEN OLD.bytes ELSE 0 END,
                files = files + (NEW.holding IN ('spool', 'removing') AND NEW.reference IS NULL)
                    - (OLD.holding IN ('spool', 'removing') AND OLD.reference IS NULL);
        END;
        """
}
