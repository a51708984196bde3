/// The triggers that keep the counts of `Tables` up to date with each change.
enum Counts {
    static let all = [captures, spool, deliveries, tries]

    private static let captures = """
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
    private static let spool = """
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

    private static let deliveries = """
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

    /// Counts the tries that have ended. A try without an end is still under way, or was interrupted.
    private static let tries = """
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
