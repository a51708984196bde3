public import CaptureBundle
import QueueModel
import QueueTransports

/// A reference whose file is never read, for measuring the part of a push that is in the database.
@_spi(Bench)
public struct BareRow: Sendable {
    let bundleID: String
    let facts: CaptureFacts
    let path: String

    public init(bundleID: String, hash: Digest, byteCount: Int, capturedAt: CaptureTime, path: String) {
        self.bundleID = bundleID
        self.path = path
        facts = CaptureFacts(
            bundleID: bundleID, identity: hash, sha256: hash, manifestSHA256: hash, byteCount: byteCount,
            capturedAt: capturedAt, device: hash, verdict: .verified, photo: hash)
    }
}

extension UploadQueue {
    /// Inserts rows in one transaction, as `push` does for up to 500 bundles.
    ///
    /// - Returns: the ids, once the rows are on the disk.
    @_spi(Bench)
    public func enqueue(_ rows: [BareRow]) throws -> [String] {
        try store.write { db in
            let reading = try clock.look(db)
            let now = reading.stamp
            return try rows.map { row in
                let id = try db.freeID(row.bundleID)
                try db.insertCapture(
                    CaptureRow(
                        id: id, facts: row.facts, pushedAt: now, session: nil, priority: 0,
                        holding: .reference, reference: row.path),
                    destinations: [], start: DeliveryStart(reading), at: now)
                return id
            }
        }
    }
}
