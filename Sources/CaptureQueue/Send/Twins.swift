import CaptureBundle
import CaptureNative
import GRDB

/// Captures that share a photo: a redacted copy and a full one, links of a chain, the same photo with other metadata. A
/// server that is asked for a photo may tell of any of them.
extension UploadQueue {
    /// Whether `remoteID` is another capture's, or may be: that of one with the same photo which was tried at this
    /// destination, and whose id nobody knows.
    func mayBeTwin(
        _ remoteID: String, of capture: CaptureRecord, _ delivery: DeliveryRecord, photo: Digest
    ) throws -> Bool {
        let untold = try store.read { db -> [CaptureRecord]? in
            let others = """
                FROM deliveries WHERE capture <> ?
                    AND destination = (SELECT destination FROM deliveries WHERE id = ?)
                """
            let known = try db.integer(
                "SELECT 1 \(others) AND remote_id = ?", [capture.sequence, delivery.number, remoteID])
            if known != nil { return nil }
            return try CaptureRecord.all(
                db,
                """
                WHERE seq IN (SELECT capture \(others) AND remote_id IS NULL
                    AND EXISTS (SELECT 1 FROM attempts WHERE attempts.delivery = deliveries.id))
                """, [capture.sequence, delivery.number])
        }
        guard let untold else { return true }
        return untold.contains { other in
            guard let path = path(of: other), let handle = try? FileHandle.reading(path),
                let head = try? UnverifiedHead(BundleSource(handle: handle, name: other.id))
            else {
                // Its bytes cannot be asked; those that were let go have landed or are not wanted.
                return other.holding.hasBytes
            }
            return head.manifest.entry(.photo)?.sha256 == photo
        }
    }
}
