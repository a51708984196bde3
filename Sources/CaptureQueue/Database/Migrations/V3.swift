import GRDB
import QueueModel

/// The third schema (Spec/queue.md, "Changes").
enum V3 {
    static let name = "v3"

    static func apply(_ db: Database) throws {
        try captures(db)
        try destinations(db)
        try bytes(db)
    }
}
