import CaptureBundle
import CaptureQueue
import CaptureTestSupport
import Foundation
import QueueFiles
import QueueModel
import SystemPackage

/// A queue with the default destination `disk`, a clock that the test sets, and bundles to push.
final class QueueRoom: Sendable {
    let room: BundleRoom
    let manual = ManualClock()
    let queue: UploadQueue

    init() throws {
        room = try BundleRoom()
        queue = try UploadQueue(at: QueueFolder(path: room.path("queue")), createIfMissing: true, clock: manual.clock)
        try addFolder("disk")
    }

    /// Makes a folder and adds it as a destination of the same name.
    func addFolder(_ name: String) throws {
        try FileManager.default.createDirectory(atPath: room.path(name), withIntermediateDirectories: true)
        try queue.destinations.add(name, .folder(FolderSettings(path: FilePath(room.path(name)))))
    }

    /// Packs a bundle and pushes it.
    func push(_ mark: String, _ change: (inout PushOptions) -> Void = { _ in }) throws -> String {
        try queue.push(room.bundle(mark), .with(change)).id
    }

    /// The record of a bundle that is packed and pushed.
    func record(_ mark: String, _ change: (inout PushOptions) -> Void = { _ in }) throws -> CaptureRecord {
        try queue.captures.find(push(mark, change))
    }

    func state(_ id: String) throws -> DeliveryState { try queue.captures.find(id).state }

    func records() throws -> [CaptureRecord] {
        var all: [CaptureRecord] = []
        try queue.captures.list { record in
            all.append(record)
            return true
        }
        return all
    }
}

extension PushOptions {
    static func with(_ change: (inout PushOptions) -> Void) -> PushOptions {
        var options = PushOptions()
        change(&options)
        return options
    }
}

extension PruneOptions {
    /// Releases everything that was delivered, however short ago.
    static let atOnce: PruneOptions = {
        var options = PruneOptions()
        options.olderThan = .zero
        return options
    }()
}
