import CaptureBundle
import CaptureQueue
import Foundation
import SystemPackage

/// Gives the files of bundles, wherever their bytes are: in the queue, or at a destination if the queue has released them.
/// All calls block.
struct StoredBundles: Sendable {
    let queue: UploadQueue
    /// The folder for temporary files.
    let scratch: FilePath

    /// Calls `body` with the path of the bundle. The file may be deleted afterwards.
    ///
    /// - Parameters:
    ///   - id: The whole id of a capture.
    ///   - reach: Where the bytes may be read.
    /// - Throws: `BundleGone` if neither the queue nor a destination has the bytes, `BundleElsewhere` if only a destination
    ///   has them and `reach` is `queue`, `BundleUnavailable` if they cannot be fetched at the moment, and any error of
    ///   `body`.
    func withFile<Value>(of id: String, _ reach: Reach, _ body: (FilePath) throws -> Value) throws -> Value {
        let record: CaptureRecord
        do { record = try queue.capture(id) } catch { throw BundleUnavailable("\(error)") }
        if let path = queue.path(of: record) {
            do { return try body(path) } catch {
                // The queue may release the bytes at any time.
                if FileManager.default.fileExists(atPath: path.string) { throw error }
            }
        }
        guard Self.isAtDestination(record) else { throw BundleGone() }
        guard reach == .destinations else { throw BundleElsewhere() }
        return try withScratchFile { path in
            do {
                _ = try queue.getRemote(record, to: .file(path))
            } catch {
                throw BundleUnavailable("\(error)")
            }
            return try body(path)
        }
    }

    /// Whether neither the queue nor a destination has the bytes: they were deleted or lost before they were passed on.
    func isGone(_ id: String) throws -> Bool {
        let record = try queue.capture(id)
        if let path = queue.path(of: record), FileManager.default.fileExists(atPath: path.string) { return false }
        return !Self.isAtDestination(record)
    }

    private static func isAtDestination(_ record: CaptureRecord) -> Bool {
        record.deliveries.contains { $0.state == .completed }
    }

    /// Calls `body` with the path of a new file, and deletes that file afterwards.
    func withScratchFile<Value>(_ body: (FilePath) throws -> Value) throws -> Value {
        let path = scratch.appending("page-\(UUID().uuidString)")
        defer { try? FileManager.default.removeItem(atPath: path.string) }
        return try body(path)
    }
}

/// Where bundles may be read.
enum Reach: Sendable {
    case queue
    /// The queue's destinations too. One that does not answer blocks the thread.
    case destinations
}

/// The queue has released the bytes of a capture, so that only its destinations have them.
struct BundleElsewhere: Error {}

/// Neither the queue nor a destination has the bytes of a capture.
struct BundleGone: Error {}

/// The bytes of a capture cannot be read at the moment.
struct BundleUnavailable: Error, CustomStringConvertible {
    let description: String

    init(_ description: String) { self.description = description }
}
