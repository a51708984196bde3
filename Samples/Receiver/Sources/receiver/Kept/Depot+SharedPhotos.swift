import CaptureBundle
import Foundation
import QueueTransports

/// The captures of all receivers that share a store, by their photos. A request to look up a photo names no device, so a
/// proxy may send it to a receiver that does not have the capture.
extension Depot {
    /// Finds the first capture with a photo.
    ///
    /// - Returns: its id, its page, and the id of its device, by the names that the API has for them.
    func capture(photo: Digest) throws -> [String: String]? {
        if let row = try index.capture(photo: photo) { return names(of: row) }
        do {
            return try sharedPhotos?.get("photos/\(photo)").map {
                try JSONDecoder().decode([String: String].self, from: Data($0))
            }
        } catch {
            throw Unavailable("\(error)")
        }
    }

    /// Records a capture for the other receivers, before it is acknowledged. The first capture of a photo counts.
    func share(_ id: String) throws {
        guard let sharedPhotos, let row = try index.capture(id), let photo = row.photoSha256 else { return }
        let bytes = Array(try JSONEncoder().encode(names(of: row)))
        do { _ = try sharedPhotos.create("photos/\(photo)", bytes) } catch { throw Unavailable("\(error)") }
    }

    private func names(of row: CaptureRow) -> [String: String] {
        ["capture_id": row.id, "verification_url": publicURL.page(of: row.id), "device": row.device]
    }
}
