/// Entries that a user names in order to withhold them (Spec/capture-bundle.md section 8).
///
/// ```swift
/// var selection = EntrySelection()
/// selection.add("location.json")
/// ```
public struct EntrySelection: Hashable, Sendable {
    package enum Item: Hashable, Sendable, CustomStringConvertible {
        case entry(EntryPath)
        /// All entries below `source/`.
        case sources

        package func contains(_ path: EntryPath) -> Bool {
            switch self {
            case .entry(let own): own == path
            case .sources: path.role == .source
            }
        }

        package var description: String {
            switch self {
            case .entry(let path): path.description
            case .sources: Role.source.rawValue
            }
        }
    }

    package private(set) var items: [Item] = []

    public init() {}

    /// Adds the entry that a word names: a path, `depth.f32`, or a role. `source` means all entries below `source/`.
    ///
    /// - Returns: false for a word that names no entry.
    public mutating func add(_ word: String) -> Bool {
        if word == Role.source.rawValue {
            items.append(.sources)
        } else if let path = EntryPath.withRole(word) ?? EntryPath(asTyped: word) {
            items.append(.entry(path))
        } else {
            return false
        }
        return true
    }

    public mutating func add(_ path: EntryPath) { items.append(.entry(path)) }

    public func contains(_ path: EntryPath) -> Bool { items.contains { $0.contains(path) } }

    /// Whether an entry other than `location.json` is named.
    public var hasMoreThanThePosition: Bool { items.contains { $0 != .entry(.location) } }
}

extension EntryPath {
    /// The entry of a role that has only one entry.
    static func withRole(_ word: String) -> EntryPath? {
        [.photo, .depth, .metadata, .location, .confidence].first { $0.role.rawValue == word }
    }
}
