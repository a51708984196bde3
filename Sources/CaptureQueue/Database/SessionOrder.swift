/// The triggers that keep `deliveries.is_behind`: members of a session go to a destination in the order of their pushes. Of
/// the open ones there (waiting or being sent) the first has 0, the later ones 1. In other rows the value means nothing.
enum SessionOrder {
    static let all = [
        """
        CREATE TRIGGER session_order_insert AFTER INSERT ON deliveries
            WHEN NEW.session IS NOT NULL AND NEW.\(isOpen) BEGIN \(marked) END;
        """,
        """
        CREATE TRIGGER session_order_update AFTER UPDATE OF state, destination ON deliveries WHEN NEW.session IS NOT NULL
            AND ((OLD.\(isOpen)) <> (NEW.\(isOpen)) OR OLD.destination IS NOT NEW.destination)
            BEGIN \(marked) \(unmarkedFirst("OLD")) END;
        """,
    ]

    private static let isOpen = "state IN ('pending', 'failed', 'uploading')"

    /// Marks the new row as behind, then also the second if the new row is first, and unmarks the first.
    private static let marked = """
        UPDATE deliveries SET is_behind = 1 WHERE id = NEW.id AND \(isOpen);
            UPDATE deliveries SET is_behind = 1 WHERE is_behind = 0 AND id = (\(open("NEW")) LIMIT 1 OFFSET 1);
            \(unmarkedFirst("NEW"))
        """

    private static func unmarkedFirst(_ row: String) -> String {
        "UPDATE deliveries SET is_behind = 0 WHERE is_behind = 1 AND id = (\(open(row)) LIMIT 1);"
    }

    private static func open(_ row: String) -> String {
        """
        SELECT id FROM deliveries INDEXED BY deliveries_session WHERE destination = \(row).destination
                AND session = \(row).session AND \(isOpen) ORDER BY capture
        """
    }
}
