import CaptureBundle
import CaptureNative
import Foundation
import GRDB
import QueueModel
import QueueTransports

/// The messages between users and a run, which go through the database.
extension UploadQueue {
    /// Stops sending until `resume`, in the current run and in later ones.
    ///
    /// - Parameters:
    ///   - destination: the only destination to pause; nil for all.
    ///   - isAtOnce: whether to stop transfers under way, too.
    /// - Throws: `destination.unknown`.
    public func pause(destination name: String? = nil, isAtOnce: Bool = false) throws {
        try store.write { db in
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
    public func resume(destination name: String? = nil) throws {
        try store.write { db in
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

    /// Returns nil if the queue is not paused; else `now` or `after-current`.
    func pausedWord() throws -> String? { try store.read { try $0.text("SELECT paused FROM control") } }

    public func isPaused() throws -> Bool { try pausedWord() != nil }

    /// Stores the state of a destination, for `status` and for the next run.
    ///
    /// - Parameter saved: nil if nothing has changed.
    func save(_ saved: DestinationState.Saved?, of destination: Destination) throws {
        guard let saved else { return }
        try store.write { try $0.save(saved, ofDestination: destination.number) }
    }

    /// Whether a destination has deliveries that are still to be sent or decided. Those whose file is absent need the
    /// user.
    func hasWork(for destination: Destination) throws -> Bool {
        try store.read { db in
            let isThere = "error_code IS NOT '\(Absence.code)'"
            for state in ["state IN ('pending', 'failed') AND \(isThere)", "state = 'processing'"] {
                let bound = try db.integer(
                    "SELECT 1 FROM deliveries WHERE destination = ? AND \(state) LIMIT 1", [destination.number])
                if bound != nil { return true }
            }
            return false
        }
    }

    /// Returns the claims that are no longer valid: the delivery was held, cancelled, or settled by another process.
    func lost(_ claims: [Claim]) throws -> [Claim] {
        try store.read { db in
            try claims.filter { claim in
                try db.integer(
                    "SELECT 1 FROM deliveries WHERE id = ? AND token = ?", [claim.delivery.number, Data(claim.token)])
                    == nil
            }
        }
    }

    /// Whether another process has written since the last call (PRAGMA data_version). Our own changes do not count.
    func hasChangedSince(_ version: inout Int) throws -> Bool {
        let now = try store.read { try Int.fetchOne($0, sql: "PRAGMA data_version") ?? 0 }
        defer { version = now }
        return version != now
    }

    func renewLeases(_ claims: [Claim]) throws {
        guard !claims.isEmpty else { return }
        try store.write { db in
            let until = try clock.stamp(db) + Self.lease
            for claim in claims {
                try db.run(
                    "UPDATE deliveries SET lease_until = ? WHERE id = ? AND token = ?",
                    [until, claim.delivery.number, Data(claim.token)])
            }
        }
    }
}
