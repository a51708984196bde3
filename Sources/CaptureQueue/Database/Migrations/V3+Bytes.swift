import GRDB
import QueueModel

extension V3 {
    /// Adds what spares sending another SHA-256 of the bytes. Rows of version 2 have neither and are compared by
    /// SHA-256.
    ///
    /// `tag` belongs to the file in the spool: a Poly1305 key and the tag made with it. `body_sha256` is the hash of
    /// the upload body that is made from the bundle, and `body_form` says how that body is made.
    static func bytes(_ db: Database) throws {
        try db.execute(
            sql: """
                ALTER TABLE captures ADD COLUMN tag BLOB;
                ALTER TABLE captures ADD COLUMN body_sha256 BLOB;
                ALTER TABLE captures ADD COLUMN body_form TEXT;
                """)
    }
}
