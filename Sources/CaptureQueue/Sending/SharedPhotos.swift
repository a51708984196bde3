import CaptureBundle
import GRDB
import QueueModel

/// Captures that share a photo: a redacted copy and a full one, links of a chain, the same photo with other metadata. A
/// server that is asked for a photo may tell of any of them.
extension UploadQueue {
    /// Those that a server of captures may have under an id that nobody knows: tried there, or uploaded by other means.
    private static let isUntold = """
        NOT EXISTS (SELECT 1 FROM deliveries WHERE capture = seq AND remote_id IS NOT NULL)
            AND EXISTS (SELECT 1 FROM deliveries WHERE capture = seq
                AND (destination IS NULL OR destination IN (SELECT id FROM destinations WHERE kind = 'http'))
                AND (state = 'completed' OR was_tried = 1
                    OR EXISTS (SELECT 1 FROM attempts WHERE attempts.delivery = deliveries.id)))
        """

    /// Whether `remoteID` is another capture's, at whichever destination, or may be: that of one with the same photo, or of
    /// one whose photo the queue does not know.
    func mayBeAnother(_ remoteID: String, of capture: CaptureRecord, photo: Digest) throws -> Bool {
        try store.read { db in
            let known = try db.integer(
                "SELECT 1 FROM deliveries WHERE capture <> ? AND remote_id = ?", [capture.sequence, remoteID])
            if known != nil { return true }
            return try db.integer(
                "SELECT 1 FROM captures WHERE seq <> ? AND (photo = ? OR photo IS NULL) AND \(Self.isUntold)",
                [capture.sequence, photo.data]) != nil
        }
    }
}
