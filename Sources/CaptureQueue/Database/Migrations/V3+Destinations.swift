import GRDB

extension V3 {
    /// Why a destination is blocked, and what was refused there in a row.
    static func destinations(_ db: Database) throws {}
}
