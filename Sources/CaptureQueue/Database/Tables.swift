import GRDB

/// The tables of the database (Spec/queue.md section 3).
enum Tables {
    static func make(_ db: Database) throws {
        let tables = [settings, captures, deliveries, history, counts]
        for part in tables + SessionOrder.triggers(by: "capture") + Counts.all { try db.execute(sql: part) }
    }

    private static let settings = """
        CREATE TABLE settings (name TEXT PRIMARY KEY, value TEXT NOT NULL) WITHOUT ROWID;
        INSERT INTO settings VALUES ('free-floor', 'default');
        CREATE TABLE control (only INTEGER PRIMARY KEY CHECK (only = 1), paused TEXT);
        INSERT INTO control VALUES (1, NULL);
        CREATE TABLE clock (
            only INTEGER PRIMARY KEY CHECK (only = 1),
            last_seen INTEGER NOT NULL, boot TEXT, anchor_wall INTEGER, anchor_boot INTEGER, warned_at INTEGER,
            latest INTEGER NOT NULL, elapsed INTEGER NOT NULL, elapsed_at INTEGER);
        CREATE TABLE destinations (
            id INTEGER PRIMARY KEY AUTOINCREMENT,
            name TEXT NOT NULL UNIQUE, former_names TEXT NOT NULL DEFAULT '', kind TEXT NOT NULL, settings TEXT NOT NULL,
            is_default INTEGER NOT NULL DEFAULT 0, is_retired INTEGER NOT NULL DEFAULT 0, added_at INTEGER NOT NULL,
            paused INTEGER NOT NULL DEFAULT 0, blocked_reason TEXT, blocked_message TEXT, blocked_until INTEGER,
            blocked_for INTEGER, failures TEXT NOT NULL DEFAULT '', refusals TEXT NOT NULL DEFAULT '',
            unproven TEXT NOT NULL DEFAULT '', lifts INTEGER NOT NULL DEFAULT 0);
        CREATE UNIQUE INDEX destinations_default ON destinations (is_default) WHERE is_default = 1;
        CREATE TABLE sessions (
            id INTEGER PRIMARY KEY AUTOINCREMENT,
            name TEXT NOT NULL UNIQUE, opened_at INTEGER NOT NULL, ended_at INTEGER,
            incomplete INTEGER NOT NULL DEFAULT 0, marker TEXT);
        CREATE TABLE markers (
            session INTEGER NOT NULL REFERENCES sessions (id), destination INTEGER NOT NULL REFERENCES destinations (id),
            ended_at INTEGER NOT NULL, key TEXT NOT NULL, attempts INTEGER NOT NULL DEFAULT 0, due INTEGER NOT NULL,
            is_claimed INTEGER NOT NULL DEFAULT 0, sent_at INTEGER, answer TEXT, error TEXT,
            PRIMARY KEY (session, destination)) WITHOUT ROWID;
        """

    /// Captures need no AUTOINCREMENT, which would write one more page each time: the last row of captures, deliveries,
    /// transitions and attempts is never deleted, so numbers are never used again.
    private static let captures = """
        CREATE TABLE captures (
            seq INTEGER PRIMARY KEY,
            id TEXT NOT NULL UNIQUE, identity BLOB NOT NULL UNIQUE, sha256 BLOB NOT NULL,
            manifest_sha256 BLOB NOT NULL, photo BLOB, bytes INTEGER NOT NULL, captured_at INTEGER NOT NULL,
            device BLOB NOT NULL, verdict TEXT NOT NULL, pushed_at INTEGER NOT NULL, stored_at INTEGER NOT NULL,
            session INTEGER REFERENCES sessions (id), priority INTEGER NOT NULL DEFAULT 0, not_before INTEGER,
            holding TEXT NOT NULL, reference TEXT, state TEXT NOT NULL, finished_at INTEGER, removed_at INTEGER,
            parts_only INTEGER NOT NULL DEFAULT 0, is_condensed INTEGER NOT NULL DEFAULT 0,
            tag BLOB, body_sha256 BLOB, body_form TEXT,
            is_spooled INTEGER AS (holding IN ('spool', 'removing') AND reference IS NULL));
        CREATE INDEX captures_sha256 ON captures (sha256);
        CREATE INDEX captures_photo ON captures (photo);
        CREATE INDEX captures_state ON captures (state, seq);
        CREATE INDEX captures_session ON captures (session) WHERE session IS NOT NULL;
        CREATE INDEX captures_unlanded ON captures (session, state) WHERE session IS NOT NULL AND state <> 'completed';
        CREATE INDEX captures_deferred ON captures (not_before)
            WHERE not_before IS NOT NULL AND state NOT IN ('completed', 'cancelled');
        CREATE INDEX captures_reference ON captures (reference) WHERE holding = 'reference';
        CREATE INDEX captures_removing ON captures (seq) WHERE holding = 'removing';
        CREATE INDEX captures_releasable ON captures (max(finished_at, stored_at))
            WHERE finished_at IS NOT NULL AND parts_only = 0 AND holding IN ('spool', 'reference');
        CREATE INDEX captures_parts ON captures (seq) WHERE parts_only = 1 AND holding IN ('spool', 'reference');
        CREATE INDEX captures_detailed ON captures (removed_at) WHERE holding = 'removed' AND is_condensed = 0;
        """

    /// `SessionOrder` keeps `is_behind`, so a claim is one index search a priority. `session` is a copy of the capture's.
    private static let deliveries = """
        CREATE TABLE deliveries (
            id INTEGER PRIMARY KEY,
            capture INTEGER NOT NULL REFERENCES captures (seq), destination INTEGER REFERENCES destinations (id),
            session INTEGER REFERENCES sessions (id), is_behind INTEGER NOT NULL DEFAULT 0,
            state TEXT NOT NULL, priority INTEGER NOT NULL,
            due INTEGER NOT NULL, not_before INTEGER, span_until INTEGER, elapsed_from INTEGER NOT NULL,
            attempts INTEGER NOT NULL DEFAULT 0, was_tried INTEGER NOT NULL DEFAULT 0, tried_at INTEGER,
            in_doubt INTEGER NOT NULL DEFAULT 0, polls INTEGER NOT NULL DEFAULT 0,
            token BLOB, owner TEXT, lease_until INTEGER, completed_at INTEGER, receipt TEXT, part TEXT, remote_id TEXT,
            remote_url TEXT, idempotency_key TEXT, error_code TEXT, error_message TEXT,
            place BLOB, place_sha256 BLOB, place_status INTEGER);
        CREATE UNIQUE INDEX deliveries_capture ON deliveries (capture, coalesce(destination, 0));
        CREATE INDEX deliveries_untried ON deliveries (destination, priority DESC, due, id)
            WHERE state IN ('pending', 'failed') AND tried_at IS NULL AND is_behind = 0;
        CREATE INDEX deliveries_tried ON deliveries (destination, due, id)
            WHERE state IN ('pending', 'failed') AND tried_at IS NOT NULL AND is_behind = 0;
        CREATE INDEX deliveries_session ON deliveries (destination, session, capture)
            WHERE session IS NOT NULL AND state IN ('pending', 'failed', 'uploading');
        CREATE INDEX deliveries_waiting ON deliveries (destination, capture)
            WHERE state IN ('pending', 'failed', 'uploading', 'processing');
        CREATE INDEX deliveries_under_way ON deliveries (lease_until) WHERE state = 'uploading';
        CREATE INDEX deliveries_processing ON deliveries (destination, due) WHERE state = 'processing';
        CREATE INDEX deliveries_landed ON deliveries (destination, completed_at, capture) WHERE completed_at IS NOT NULL;
        CREATE INDEX deliveries_place ON deliveries (place) WHERE place IS NOT NULL;
        CREATE INDEX deliveries_absent ON deliveries (destination, capture) WHERE error_code = 'source.absent';
        CREATE INDEX deliveries_cut_short ON deliveries (destination)
            WHERE error_code = 'run.limit' AND state = 'pending';
        """

    private static let history = """
        CREATE TABLE transitions (
            id INTEGER PRIMARY KEY,
            delivery INTEGER NOT NULL REFERENCES deliveries (id), at INTEGER NOT NULL, from_state TEXT,
            to_state TEXT NOT NULL, event TEXT NOT NULL, cause TEXT);
        CREATE INDEX transitions_delivery ON transitions (delivery);
        CREATE INDEX transitions_salvaged ON transitions (delivery) WHERE cause = 'salvaged' AND to_state = 'held';
        CREATE TABLE attempts (
            id INTEGER PRIMARY KEY,
            delivery INTEGER NOT NULL REFERENCES deliveries (id), number INTEGER NOT NULL, token BLOB NOT NULL,
            started_at INTEGER NOT NULL, ended_at INTEGER, outcome TEXT, code TEXT, message TEXT, bytes_sent INTEGER);
        CREATE INDEX attempts_delivery ON attempts (delivery);
        """

    /// What triggers keep up to date, because counting a million rows takes a third of a second. It is one table, so that a
    /// change writes one page of it. The destination is 0 where a delivery has none.
    private static let counts = """
        CREATE TABLE counts (
            subject TEXT NOT NULL, destination INTEGER NOT NULL, kind NOT NULL, number INTEGER NOT NULL,
            bytes INTEGER NOT NULL, milliseconds INTEGER NOT NULL, PRIMARY KEY (subject, destination, kind)) WITHOUT ROWID;
        INSERT INTO counts VALUES ('spool', 0, '', 0, 0, 0);
        CREATE VIEW totals AS SELECT kind AS state, number AS captures, bytes FROM counts WHERE subject = 'capture';
        CREATE VIEW delivery_totals AS
            SELECT destination, kind AS state, number AS deliveries, bytes FROM counts WHERE subject = 'delivery';
        CREATE VIEW usage AS SELECT bytes, number AS files FROM counts WHERE subject = 'spool';
        CREATE VIEW traffic AS SELECT destination, kind AS outcome, number AS attempts, bytes, milliseconds
            FROM counts WHERE subject = 'attempt';
        CREATE VIEW latency AS
            SELECT destination, kind AS at_most, number AS attempts FROM counts WHERE subject = 'latency';
        """
}
