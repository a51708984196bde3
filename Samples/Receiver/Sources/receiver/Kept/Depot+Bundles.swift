import CaptureBundle
import CaptureQueue
import Foundation
import QueueModel
import SystemPackage

/// Gives the files of bundles from the queue, or from a destination if the queue has released them. All calls block.
extension Depot {
    /// Calls `body` with the path of the bundle, and with the hash of the bundle that arrived. The file may be deleted
    /// afterwards.
    ///
    /// - Throws: `BundleGone`, `OutOfReach`, `Unavailable`, and any error of `body`.
    func withFile<Value>(of id: String, _ reach: Reach, _ body: (FilePath, Digest) throws -> Value) throws -> Value {
        let record: CaptureRecord
        do { record = try queue.captures.find(id) } catch { throw Unavailable("\(error)") }
        if let path = queue.captures.path(of: record) {
            do { return try body(path, record.sha256) } catch {
                // The queue may release the bytes at any time.
                if FileManager.default.fileExists(atPath: path.string) { throw error }
            }
        }
        guard record.isAtDestination else { throw BundleGone() }
        guard reach == .destinations else { throw OutOfReach() }
        return try withScratchFile { path in
            do { _ = try queue.captures.fetch(record, to: .file(path)) } catch { throw Unavailable("\(error)") }
            return try body(path, record.sha256)
        }
    }

    /// Calls `body` with the path of a new file, and deletes that file afterwards.
    func withScratchFile<Value>(_ body: (FilePath) throws -> Value) throws -> Value {
        let path = folder.scratch.appending("page-\(UUID().uuidString)")
        defer { try? FileManager.default.removeItem(atPath: path.string) }
        return try body(path)
    }

    /// Reads the queue's copy of a capture, and compares it with what arrived.
    func state(of id: String) -> BundleState {
        guard let record = try? queue.captures.find(id) else { return .gone }
        if let path = queue.captures.path(of: record),
            let hash = try? RequestSignature.hash(BundleSource(file: path))
        {
            return hash == record.sha256 ? .unchanged : .damaged
        }
        return record.isAtDestination ? .passedOn : record.holding == .quarantined ? .damaged : .gone
    }
}

extension CaptureRecord {
    fileprivate var isAtDestination: Bool { deliveries.contains { $0.state == .completed } }
}

enum BundleState: Sendable {
    /// The queue's copy has the bytes that arrived.
    case unchanged
    case damaged
    /// The queue has released the bytes. The copy at a destination was not read.
    case passedOn
    /// The bytes were deleted or lost before they were passed on.
    case gone
}

/// What may be done for a page.
enum Reach: Sendable {
    /// To hash a bundle in the queue, whose verification is known.
    case known
    /// To verify a bundle in the queue too, which can take seconds.
    case queue
    /// To fetch a bundle from the queue's destinations too. One that does not answer blocks the thread.
    case destinations
}

/// A page needs more than its thread may do.
struct OutOfReach: Error {}

/// Neither the queue nor a destination has the bytes of a capture.
struct BundleGone: Error {}
