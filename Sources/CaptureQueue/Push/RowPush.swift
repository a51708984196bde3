package import CaptureBundle

extension UploadQueue {
    /// Enters a capture by reference without looking at its file: what a push does in the database, for measuring that alone.
    ///
    /// - Returns: its id, once the row is on the disk.
    package func enqueueRow(bundleID: String, hash: Digest, byteCount: Int, capturedAt: CaptureTime, path: String)
        throws -> String
    {
        try store.write { db in
            let now = try clock.stamp(db)
            let id = try db.freeID(bundleID)
            let facts = BundleFacts(
                bundleID: bundleID, identity: hash, sha256: hash, manifestSHA256: hash, byteCount: byteCount,
                capturedAt: capturedAt, device: hash, verdict: .verified)
            try db.insertCapture(
                CaptureRow(
                    id: id, facts: facts, pushedAt: now, session: nil, priority: 0, notBefore: nil, holding: .reference,
                    reference: path),
                destinations: [], due: now, at: now)
            return id
        }
    }
}
