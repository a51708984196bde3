import CaptureBundle
import Foundation

/// The captures of all receivers that share a store, by their photos. A request to look up a photo names no device, so a
/// proxy may send it to a receiver that does not have the capture.
extension Depot {
    /// Finds the first capture with a photo.
    ///
    /// - Returns: its id, its page, and the id of its device, by the names that the API has for them.
    func capture(photo: Digest) throws -> [String: String]? {
        if let row = try index.capture(photo: photo) { return names(of: row) }
        guard devices.isShared, let found = try devices.get("photos/\(photo)") else { return nil }
        return try JSONDecoder().decode([String: String].self, from: Data(found))
    }

    /// Records a capture for the other receivers, before it is acknowledged. The first capture of a photo counts.
    func share(_ id: String) throws {
        guard let row = try index.capture(id), let photo = row.photoSha256 else { return }
        _ = try devices.create("photos/\(photo)", Array(JSONEncoder().encode(names(of: row))))
    }

    private func names(of row: CaptureRow) -> [String: String] {
        ["capture_id": row.id, "verification_url": publicURL.page(of: row.id), "device": row.device]
    }
}
