/// A version of SQLite.
public struct SQLiteVersion: Hashable, Sendable, CustomStringConvertible {
    /// The version as SQLite prints it, such as `3.40.1`.
    public let description: String

    package init(_ text: String) { description = text }

    /// Whether a checkpoint beside a commit of another process can damage a database (https://sqlite.org/wal.html,
    /// "The WAL-Reset Bug"). 3.51.3 fixed that; 3.50.7 and 3.44.6 have the fix too.
    public var hasResetRace: Bool {
        let numbers = description.pieces(by: ".").compactMap { Int($0) }
        func isBefore(_ version: [Int]) -> Bool { numbers.lexicographicallyPrecedes(version) }
        let isFixedBranch = [[3, 50, 7], [3, 44, 6]].contains { $0.prefix(2) == numbers.prefix(2) && !isBefore($0) }
        return isBefore([3, 51, 3]) && !isFixedBranch
    }
}
