import GRDB

extension V3 {
    /// When bytes were stored, and to which destination a delivery goes from its start.
    static func captures(_ db: Database) throws {}
}
