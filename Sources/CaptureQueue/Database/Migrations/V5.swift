import GRDB

/// The places to which `put` sends bytes (Spec/upload.md section 4.3). Places of earlier deliveries are not known.
enum V5 {
    static let name = "v5"

    static func apply(_ db: Database) throws {
        try db.execute(
            sql: """
                ALTER TABLE deliveries ADD COLUMN place BLOB;
                ALTER TABLE deliveries ADD COLUMN place_sha256 BLOB;
                ALTER TABLE deliveries ADD COLUMN place_status INTEGER;
                CREATE INDEX deliveries_place ON deliveries (place) WHERE place IS NOT NULL;
                """)
    }
}
