import GRDB

/// Version 11 of the database, after that of release 1.0.0 (Spec/queue.md section 3).
enum Migration11 {
    /// Rises until the release of this version. Databases of the earlier numbers are refused.
    private static let number = 1
    static let name = "v11.\(number)"
    static let unreleased = (0..<number).map { "v11.\($0)" }

    static func apply(_ db: Database) throws {
        try db.execute(sql: copies)
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
}
