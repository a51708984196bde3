import GRDB
import QueueModel

extension V3 {
    /// Adds the tag and the body hash, so that sending need not hash the bytes again. Rows of version 2 have neither.
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
