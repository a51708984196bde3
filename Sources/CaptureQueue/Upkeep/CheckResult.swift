/// A fault that `check` found.
public struct CheckFinding: Hashable, Sendable {
    public enum Kind: String, Sendable {
        /// The stored bytes are not the bytes that were pushed.
        case damaged
        /// The file is gone, but the queue did not delete it.
        case missing
        /// The user's file of a reference is gone or has changed.
        case source
        /// The user's file of a reference is absent with its folder, or the whole spool is: a disk may not be mounted.
        case absent
        /// The disk cannot read the bytes, so their state is unknown.
        case unreadable
        /// A folder of the queue is on a mount of its own.
        case mount
        /// No row names this file in the spool.
        case stray
        /// A bundle has no sidecar.
        case sidecar
        /// A deletion was interrupted; the next `prune` finishes it.
        case interrupted
        /// A killed push has left a temporary file.
        case leftover
        /// A destination no longer has a capture for which it gave a receipt.
        case lost
        /// A destination could not be asked.
        case unconfirmed
    }

    public let kind: Kind
    public let id: String?
    public let path: String
    public let message: String
    /// Whether the fault was repaired.
    public let isRepaired: Bool
}

/// The counts of a check.
public struct CheckResult: Hashable, Sendable {
    public internal(set) var captures = 0
    public internal(set) var files = 0
    public internal(set) var bytesRead = 0
    /// The number of captures that were added from stray files, and are held.
    public internal(set) var held = 0
    /// The number of findings that were not repaired, by kind. `checkRemote` gives more of them.
    public package(set) var open: [CheckFinding.Kind: Int] = [:]
}
