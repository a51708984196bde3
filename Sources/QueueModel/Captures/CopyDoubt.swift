/// Why the copy in a folder may be lost although a receipt speaks for it (Spec/queue.md section 8.1).
public enum CopyDoubt: String, Hashable, Sendable {
    /// The tool of release 1.0 wrote the receipt, and no run has looked at the copy since.
    case unseen
    /// There is no copy, on a file system that may have lost it in a power cut.
    case absent
    /// The copy has other bytes.
    case wrong
}

/// What a run found at the place of such a copy.
package enum CopyFinding: Hashable, Sendable {
    /// The copy is right, and synced under its name now. The receipt says so.
    case sound(receipt: String)
    /// Nobody can have lost it in a power cut, or it is not where the destination is now.
    case beyondDoubt
    case doubtful(CopyDoubt)
    /// It cannot be read at the moment.
    case unknown
}
