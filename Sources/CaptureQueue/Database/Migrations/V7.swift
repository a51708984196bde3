import GRDB

/// What keeps a wrong clock from delaying what is sent (Spec/queue.md section 6.2), and finds what runs cannot finish.
enum V7 {
    static let name = "v7"

    static func apply(_ db: Database) throws {
        for part in [clock, deliveries] { try db.execute(sql: part) }
    }

    private static let clock = """
        ALTER TABLE clock ADD COLUMN latest INTEGER NOT NULL DEFAULT 0;
        ALTER TABLE clock ADD COLUMN elapsed INTEGER NOT NULL DEFAULT 0;
        ALTER TABLE clock ADD COLUMN elapsed_at INTEGER;
        UPDATE clock SET latest = max(last_seen, coalesce((SELECT max(max(stored_at, finished_at)) FROM captures
            WHERE finished_at IS NOT NULL AND holding IN ('spool', 'reference')), 0));
        """

    private static let deliveries = """
        ALTER TABLE deliveries ADD COLUMN not_before INTEGER;
        ALTER TABLE deliveries ADD COLUMN span_until INTEGER;
        ALTER TABLE deliveries ADD COLUMN elapsed_from INTEGER NOT NULL DEFAULT 0;
        UPDATE deliveries SET not_before = (SELECT not_before FROM captures WHERE seq = capture)
            WHERE state NOT IN ('completed', 'cancelled');
        CREATE INDEX deliveries_cut_short ON deliveries (destination)
            WHERE error_code = 'run.limit' AND state = 'pending';
        """
}
