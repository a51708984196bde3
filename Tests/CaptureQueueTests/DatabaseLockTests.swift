import CaptureQueue
import CaptureTestSupport
import Foundation
import QueueFiles
import SystemPackage
import Testing

/// SQLite's locks on the database last as long as a queue is open in this process.
struct DatabaseLockTests {
    @Test func openingAQueueAgainKeepsTheLocks() throws {
        let room = try BundleRoom()
        let folder = QueueFolder(path: room.path("queue"))
        let queue = try UploadQueue(at: folder, createIfMissing: true)
        #expect(try hasLock(folder))
        let second = try UploadQueue(at: folder)
        #expect(try hasLock(folder))
        second.close()
        #expect(try hasLock(folder))
        queue.close()
        #expect(try !hasLock(folder))
    }

    /// Whether this process has a POSIX lock on the database, as the kernel says.
    private func hasLock(_ folder: QueueFolder) throws -> Bool {
        let path = folder.path.appending("queue.sqlite").string
        let attributes = try FileManager.default.attributesOfItem(atPath: path)
        let inode = "\(try #require(attributes[.systemFileNumber]))"
        let own = String(ProcessInfo.processInfo.processIdentifier)
        let locks = try String(decoding: Data(contentsOf: URL(filePath: "/proc/locks")), as: UTF8.self)
        return locks.utf8.split(separator: UInt8(ascii: "\n")).contains { line in
            let words = line.split(separator: UInt8(ascii: " ")).map { String(decoding: $0, as: UTF8.self) }
            return words.count > 5 && words[1] == "POSIX" && words[4] == own && words[5].hasSuffix(":\(inode)")
        }
    }
}
