import GRDB

/// Finds references, and deliveries whose file is absent with its folder (Spec/queue.md section 11).
enum V6 {
    static let name = "v6"

    static func apply(_ db: Database) throws {
        try db.execute(
            sql: """
                CREATE INDEX captures_reference ON captures (reference) WHERE holding = 'reference';
                CREATE INDEX deliveries_absent ON deliveries (destination, capture) WHERE error_code = 'source.absent';
                """)
    }
}
