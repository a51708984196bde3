import GRDB
import QueueModel

/// The messages of users to a run, which go through the database.
extension UploadQueue.Destinations {
    /// Stops sending until `resume`, in the current run and in later ones.
    ///
    /// - Parameters:
    ///   - name: the only destination to pause; nil for all.
    ///   - isAtOnce: whether to stop transfers under way, too.
    /// - Throws: `destination.unknown`.
    public func pause(_ name: String? = nil, isAtOnce: Bool = false) throws {
        try queue.store.write { db in
            if let name {
                try db.run("UPDATE destinations SET paused = ? WHERE id = ?", [isAtOnce ? 2 : 1, db.destination(name)])
            } else {
                try db.run("UPDATE control SET paused = ?", [isAtOnce ? "now" : "after-current"])
            }
        }
    }

    /// Continues sending, and lifts the block of the destination, or of all destinations. They are tried at once.
    ///
    /// - Throws: `destination.unknown`.
    public func resume(_ name: String? = nil) throws {
        try queue.store.write { db in
            if let name {
                let number = try db.destination(name)
                try db.run("UPDATE destinations SET paused = 0 WHERE id = ?", [number])
                try db.unblock("id = ?", [number])
            } else {
                try db.run("UPDATE control SET paused = NULL")
                try db.unblock("blocked_reason IS NOT NULL")
            }
        }
    }

    /// Returns nil if the whole queue is not paused; else `now` or `after-current`.
    func pausedWord() throws -> String? { try queue.store.read { try $0.text("SELECT paused FROM control") } }

    /// Whether sending was stopped for all destinations.
    public func arePaused() throws -> Bool { try pausedWord() != nil }

    /// Stores the state of a destination, for `status` and for the next run.
    ///
    /// - Parameter saved: nil if nothing has changed.
    func save(_ saved: DestinationState.Saved?, of destination: Destination) throws {
        guard let saved else { return }
        try queue.store.write { try $0.save(saved, ofDestination: destination.number) }
    }
}
