import CaptureBundle
import CaptureQueue
import Foundation
import QueueTransports

/// The captures of all receivers that share a store, by their photos. A request to look up a photo names no device, so a
/// proxy may send it to a receiver that does not have the capture.
struct SharedPhotos: Sendable {
    /// A capture, as the receiver that has it names it.
    struct Found: Codable, Sendable {
        let captureID: String
        let verificationURL: String
        let device: String?

        init(_ row: CaptureRow, _ publicURL: PublicURL) {
            captureID = row.id
            verificationURL = publicURL.page(of: row.id)
            device = row.device
        }

        private enum CodingKeys: String, CodingKey {
            case device
            case captureID = "capture_id"
            case verificationURL = "verification_url"
        }
    }

    private let store: S3Objects

    /// Opens the shared store of a folder; nil if the receiver shares none.
    init?(of folder: ReceiverFolder) throws {
        guard let shared = try SharedStore(of: folder) else { return nil }
        store = try S3Objects(shared.settings)
    }

    /// Records a capture before it is acknowledged. The first capture of a photo counts.
    func add(_ row: CaptureRow?, _ publicURL: PublicURL) throws {
        guard let row, let photo = row.photoSHA256 else { return }
        let bytes = Array(try JSONEncoder().encode(Found(row, publicURL)))
        do { _ = try store.create("photos/\(photo)", bytes) } catch { throw Unavailable("\(error)") }
    }

    func find(_ photo: Digest) throws -> Found? {
        do {
            return try store.get("photos/\(photo)").map { try JSONDecoder().decode(Found.self, from: Data($0)) }
        } catch {
            throw Unavailable("\(error)")
        }
    }
}
