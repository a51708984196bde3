/// The triggers that keep the counts of `Tables` up to date with each change.
enum Counts {
    static let all = [captures, spool, deliveries, tries]

    private static let adding = """
        ON CONFLICT (subject, destination, kind) DO UPDATE SET number = number + 1, bytes = bytes + excluded.bytes,
            milliseconds = milliseconds + excluded.milliseconds
        """

    private static let captures = """
        CREATE TRIGGER totals_insert AFTER INSERT ON captures BEGIN
            INSERT INTO counts VALUES ('capture', 0, NEW.state, 1, NEW.bytes, 0) \(adding);
        END;
        CREATE TRIGGER totals_update AFTER UPDATE OF state, bytes ON captures
            WHEN OLD.state <> NEW.state OR OLD.bytes <> NEW.bytes BEGIN
            UPDATE counts SET number = number - 1, bytes = bytes - OLD.bytes
                WHERE subject = 'capture' AND destination = 0 AND kind = OLD.state;
            INSERT INTO counts VALUES ('capture', 0, NEW.state, 1, NEW.bytes, 0) \(adding);
        END;
        """

    /// Counts the bytes in the folder `spool`. Files in quarantine are counted in their own folder.
    private static let spool = """
        CREATE TRIGGER usage_insert AFTER INSERT ON captures WHEN NEW.is_spooled BEGIN
            UPDATE counts SET bytes = bytes + NEW.bytes, number = number + 1 WHERE subject = 'spool';
        END;
        CREATE TRIGGER usage_update AFTER UPDATE OF holding, bytes ON captures
            WHEN OLD.holding <> NEW.holding OR OLD.bytes <> NEW.bytes BEGIN
            UPDATE counts SET bytes = bytes + NEW.bytes * NEW.is_spooled - OLD.bytes * OLD.is_spooled,
                number = number + NEW.is_spooled - OLD.is_spooled WHERE subject = 'spool';
        END;
        """

    private static let deliveries = """
        CREATE TRIGGER delivery_totals_insert AFTER INSERT ON deliveries BEGIN
            INSERT INTO counts SELECT 'delivery', coalesce(NEW.destination, 0), NEW.state, 1, bytes, 0
                FROM captures WHERE seq = NEW.capture \(adding);
        END;
        CREATE TRIGGER delivery_totals_update AFTER UPDATE OF state, destination ON deliveries
            WHEN OLD.state <> NEW.state OR OLD.destination IS NOT NEW.destination BEGIN
            UPDATE counts SET number = number - 1,
                bytes = bytes - (SELECT bytes FROM captures WHERE seq = OLD.capture)
                WHERE subject = 'delivery' AND destination = coalesce(OLD.destination, 0) AND kind = OLD.state;
            INSERT INTO counts SELECT 'delivery', coalesce(NEW.destination, 0), NEW.state, 1, bytes, 0
                FROM captures WHERE seq = NEW.capture \(adding);
        END;
        CREATE TRIGGER delivery_totals_bytes AFTER UPDATE OF bytes ON captures WHEN OLD.bytes <> NEW.bytes BEGIN
            UPDATE counts SET bytes = bytes + NEW.bytes - OLD.bytes WHERE subject = 'delivery' AND (destination, kind) IN
                (SELECT coalesce(destination, 0), state FROM deliveries WHERE capture = NEW.seq);
        END;
        """

    /// Counts the tries that have ended. A try without an end is still under way, or was interrupted.
    private static let tries = """
        CREATE TRIGGER traffic_attempt AFTER UPDATE OF ended_at ON attempts
            WHEN OLD.ended_at IS NULL AND NEW.ended_at IS NOT NULL BEGIN
            INSERT INTO counts SELECT 'attempt', coalesce(destination, 0), coalesce(NEW.outcome, ''), 1,
                coalesce(NEW.bytes_sent, 0), max(0, NEW.ended_at - NEW.started_at)
                FROM deliveries WHERE id = NEW.delivery \(adding);
            INSERT INTO counts SELECT 'latency', coalesce(destination, 0), CASE
                WHEN NEW.ended_at - NEW.started_at <= 10 THEN 10 WHEN NEW.ended_at - NEW.started_at <= 100 THEN 100
                WHEN NEW.ended_at - NEW.started_at <= 1000 THEN 1000
                WHEN NEW.ended_at - NEW.started_at <= 10000 THEN 10000
                WHEN NEW.ended_at - NEW.started_at <= 100000 THEN 100000 ELSE 1000000000 END, 1, 0, 0
                FROM deliveries WHERE id = NEW.delivery \(adding);
        END;
        """
}
