import CaptureBundle
import CaptureNative
import GRDB

/// Captures that share a photo: a redacted copy and a full one, links of a chain, the same photo with other metadata. A
/// server that is asked for a photo may tell of any of them.
extension UploadQueue {
    /// Those that a server of captures may have under an id that nobody knows: tried there, or uploaded by other means.
    private static let untold = """
        WHERE seq <> ? AND NOT EXISTS (SELECT 1 FROM deliveries WHERE capture = seq AND remote_id IS NOT NULL)
            AND EXISTS (SELECT 1 FROM deliveries WHERE capture = seq
                AND (destination IS NULL OR destination IN (SELECT id FROM destinations WHERE kind = 'http'))
                AND (state = 'completed' OR EXISTS (SELECT 1 FROM attempts WHERE attempts.delivery = deliveries.id)))
        """

    /// Whether `remoteID` is another capture's, at whichever destination, or may be: that of one with the same photo.
    func mayBeTwin(_ remoteID: String, of capture: CaptureRecord, photo: Digest) throws -> Bool {
        let untold = try store.read { db -> [CaptureRecord]? in
            let known = try db.integer(
                "SELECT 1 FROM deliveries WHERE capture <> ? AND remote_id = ?", [capture.sequence, remoteID])
            return known == nil ? try CaptureRecord.all(db, Self.untold, [capture.sequence]) : nil
        }
        guard let untold else { return true }
        // Of bytes that are gone nobody knows whose photo they had.
        return untold.contains { other in photoHash(of: other).map { $0 == photo } ?? true }
    }

    private func photoHash(of capture: CaptureRecord) -> Digest? {
        guard let path = path(of: capture), let handle = try? FileHandle.readingPlainFile(path),
            let head = try? UnverifiedHead(BundleSource(handle: handle, name: capture.id))
        else { return nil }
        return head.manifest.entry(.photo)?.sha256
    }
}
