import CaptureBundle
import CaptureNative
import Foundation
import GRDB
import QueueModel
import QueueTransports
import SystemPackage

/// Captures that share a photo: a redacted copy and a full one, links of a chain, the same photo with other metadata. A
/// server that is asked for a photo may tell of any of them.
extension UploadQueue {
    /// Those that a server of captures may have under an id that nobody knows: tried there, or uploaded by other means.
    private static let isUntold = """
        NOT EXISTS (SELECT 1 FROM deliveries WHERE capture = seq AND remote_id IS NOT NULL)
            AND EXISTS (SELECT 1 FROM deliveries WHERE capture = seq
                AND (destination IS NULL OR destination IN (SELECT id FROM destinations WHERE kind = 'http'))
                AND (state = 'completed' OR EXISTS (SELECT 1 FROM attempts WHERE attempts.delivery = deliveries.id)))
        """

    /// Whether `remoteID` is another capture's, at whichever destination, or may be: that of one with the same photo.
    func mayBeTwin(_ remoteID: String, of capture: CaptureRecord, photo: Digest) throws -> Bool {
        let untold = try store.read { db -> [CaptureRecord]? in
            let known = try db.integer(
                "SELECT 1 FROM deliveries WHERE capture <> ? AND remote_id = ?", [capture.sequence, remoteID])
            return known == nil
                ? try CaptureRecord.all(db, "WHERE seq <> ? AND \(Self.isUntold)", [capture.sequence]) : nil
        }
        guard let untold else { return true }
        // Of bytes that were lost nobody knows whose photo they had.
        return try untold.contains { other in
            try (photoHash(of: other) ?? keptPhoto(of: other)).map { $0 == photo } ?? true
        }
    }

    /// Notes whose photo is let go, of captures that are being removed and may be twins of some later one.
    ///
    /// - Parameter captures: their sequence numbers.
    func keepPhotos(of captures: [Int], _ db: Database) throws {
        let numbers = captures.map(String.init).joined(separator: ",")
        let condition = "WHERE seq IN (\(numbers)) AND photo IS NULL AND \(Self.isUntold)"
        for capture in try CaptureRecord.all(db, condition, []) {
            guard
                let photo = photoHash(
                    in: capture.reference.map { FilePath($0) } ?? folder.bundlePath(capture.sha256))
            else { continue }
            try db.run("UPDATE captures SET photo = ? WHERE seq = ?", [Data(photo.bytes), capture.sequence])
        }
    }

    private func keptPhoto(of capture: CaptureRecord) throws -> Digest? {
        let row = try store.read { db in
            try db.row("SELECT photo FROM captures WHERE seq = ? AND photo IS NOT NULL", [capture.sequence])
        }
        return try row?.digest("photo")
    }

    private func photoHash(of capture: CaptureRecord) -> Digest? { path(of: capture).flatMap { photoHash(in: $0) } }

    private func photoHash(in path: FilePath) -> Digest? {
        guard let handle = try? FileHandle.readingPlainFile(path),
            let head = try? UnverifiedHead(BundleSource(handle: handle, name: path.string))
        else { return nil }
        return head.manifest.entry(.photo)?.sha256 ?? (try? Digest.of([]))
    }
}
