import CaptureBundle
import GRDB
import QueueModel

/// Handles captures that share a photo: a redacted and a full copy, links of a chain, or the same photo with other
/// metadata. A server that is asked for the photo may return the id of any of them.
extension UploadQueue {
    /// The SQL condition for captures that a server may have under an unknown id, by a try or an upload by other means.
    /// The id that another destination gave says nothing, since it may be another server.
    private static let isUntold = """
        EXISTS (SELECT 1 FROM deliveries WHERE capture = seq AND remote_id IS NULL
            AND (destination IS NULL OR destination IN (SELECT id FROM destinations WHERE kind = 'http'))
            AND (state = 'completed' OR was_tried = 1
                OR EXISTS (SELECT 1 FROM attempts WHERE attempts.delivery = deliveries.id)))
        """

    /// Whether `remoteID` belongs to another capture, at any destination, or possibly does: to one with the same photo,
    /// or to one whose photo is unknown.
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
