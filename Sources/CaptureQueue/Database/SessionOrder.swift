/// The triggers that keep `deliveries.is_behind`: members of a session go to a destination in the order of their pushes. Of
/// the open ones there (waiting or being sent) the first has 0, the later ones 1. In other rows the value means nothing.
enum SessionOrder {
    /// The columns of `deliveries` by which members of a session are sorted. A row without an order of its own counts as
    /// pushed behind the rows before it.
    static let columns = "coalesce(order_after, capture - 1), order_position, capture"

    static func triggers(by columns: String) -> [String] {
        let isOpen = "state IN ('pending', 'failed', 'uploading')"
        func open(_ row: String) -> String {
            """
            SELECT id FROM deliveries INDEXED BY deliveries_session WHERE destination = \(row).destination
                    AND session = \(row).session AND \(isOpen) ORDER BY \(columns)
            """
        }
        func unmarkedFirst(_ row: String) -> String {
            "UPDATE deliveries SET is_behind = 0 WHERE is_behind = 1 AND id = (\(open(row)) LIMIT 1);"
        }
        // Marks the new row as behind, then also the second if the new row is first, and unmarks the first.
        let marked = """
            UPDATE deliveries SET is_behind = 1 WHERE id = NEW.id AND \(isOpen);
                UPDATE deliveries SET is_behind = 1 WHERE is_behind = 0 AND id = (\(open("NEW")) LIMIT 1 OFFSET 1);
                \(unmarkedFirst("NEW"))
            """
        return [
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
    }
}
