import GRDB
import QueueModel

extension V3 {
    /// What spares sending a second hash of the bytes.
    static func bytes(_ db: Database) throws {}
}
