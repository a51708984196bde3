import CaptureBundle
import CaptureQueue
import CaptureTestSupport
import Foundation
import QueueFiles
import QueueModel
import Synchronization
import SystemPackage
import Testing

/// The examples of CaptureQueue.docc. The page of each name shows the lines between `docs:` and `end` exactly
/// (Tests/Documents/library.py compares them).
struct LibraryExampleTests {
    private let room: BundleRoom

    init() throws { room = try BundleRoom() }

    @Test func pushesOneBundleAndMany() throws {
        let queuePath: FilePath = room.path("queue")
        let bundle = try room.bundle("a")
        let bundles = try ["b", "c"].map { try room.bundle($0) }
        // docs: Pushing
        let queue = try UploadQueue(at: QueueFolder(path: queuePath), createIfMissing: true)

        // Push one bundle. When `push` returns, the bundle is on the disk.
        var options = PushOptions()
        options.session = "monday"
        let pushed = try queue.push(bundle, options)
        print("\(pushed.id): \(pushed.outcome.rawValue), \(pushed.byteCount) bytes")

        // Push many bundles on several threads. Up to 500 bundles share a transaction.
        let paths = Mutex(bundles.makeIterator())
        try queue.push(next: { paths.withLock { $0.next() }.map { .success(.file($0)) } }) { file, result in
            switch result {
            case .success(let pushed): print("\(file): \(pushed.id)")
            case .failure(let error): print("\(file): \(error)")
            }
        }

        let status = try queue.status()
        print("\(status.waiting) wait, the spool holds \(status.usedBytes) bytes")
        // end
        #expect(pushed.outcome == .stored && status.waiting == 3)
        #expect(try queue.captures.find(pushed.id).session == "monday")
    }

    @Test func sendsAndLetsGo() throws {
        let queue = try UploadQueue(at: QueueFolder(path: room.path("queue")), createIfMissing: true)
        let copied = try queue.push(room.bundle("a"))
        var later = PushOptions()
        later.notBefore = CaptureTime("2096-10-02T07:06:40Z")
        let id = try queue.push(room.bundle("b"), later).id
        let disk = FilePath(room.path("disk"))
        try FileManager.default.createDirectory(atPath: disk.string, withIntermediateDirectories: true)
        // A receipt must name the SHA-256, and this path does: the name of a file in the spool is its SHA-256.
        let send = { (path: FilePath) in "kept \(path)" }
        // docs: Sending
        // Send to a folder on a mounted disk. While the disk is not mounted, captures wait.
        try queue.destinations.add("nas", .folder(FolderSettings(path: disk)))
        let result = try queue.run { event in print("\(event.name): \(event.id ?? event.message ?? "")") }
        print("\(result.completed) landed, \(result.failed) did not")

        // Send by other means: hold the capture, send its bytes, and record a receipt with the SHA-256.
        try queue.captures.change(.hold, id)
        var filter = CaptureFilter()
        filter.states = [.held]
        try queue.captures.export(filter) { capture in
            guard let path = queue.captures.path(of: capture) else { return }
            try queue.captures.markUploaded(capture.id, receipt: send(path))
        }

        // Delete bytes that were delivered longer ago than the retention. The row and the receipt stay.
        let pruned = try queue.upkeep.prune { id, bytes in print("\(id): \(bytes) bytes") }
        print("\(pruned.captures) deleted")
        // end
        #expect(result.completed == 1 && result.failed == 0)
        #expect(try room.folder.bytes("disk/\(copied.id).bundle") == room.folder.bytes("a.bundle"))
        #expect(try queue.captures.find(id).state == .completed)
        #expect(pruned.captures == 0)
    }
}
