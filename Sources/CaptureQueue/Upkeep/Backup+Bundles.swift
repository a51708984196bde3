import CaptureBundle
import CaptureNative
import GRDB
import QueueFiles
import QueueModel
import SystemPackage

extension Backup {
    /// A row of the copy whose bytes were not deleted.
    private typealias Item = (sequence: Int, id: String, sha256: Digest, bytes: Int, isSpooled: Bool)

    /// Copies what the folder does not have yet.
    ///
    /// - Parameter isAlone: whether no other process can change the queue meanwhile.
    /// - Returns: false if the queue deleted something that the copy of its database lists.
    mutating func copyBundles(of copy: DatabaseQueue, isAlone: Bool) throws -> Bool {
        var last = 0
        while true {
            let items = try QueueStore.converting(target) { try copy.read { try Self.items($0, after: last) } }
            guard let end = items.last else { return true }
            last = end.sequence
            var files: [Spool.NewFile] = []
            for item in items {
                if item.isSpooled, try spool.bundleStatus(item.sha256)?.size != item.bytes {
                    if let file = try bundle(item) {
                        files.append(file)
                    } else if try isAlone || isStillHeld(item) {
                        result.missing.append(item.id)
                    } else {
                        return false
                    }
                }
                if let file = try sidecar(item) { files.append(file) }
                result.captures += 1
            }
            // Only now, so that the disk writes the files of a group together.
            for new in files {
                try onFile(target.incoming) { try new.file.handle.synchronize() }
            }
            try spool.publish(files)
        }
    }

    private static func items(_ db: Database, after last: Int) throws -> [Item] {
        // A group is small, because its files are open at the same time.
        let sql = """
            SELECT seq, id, sha256, bytes, holding FROM captures WHERE holding <> 'removed' AND seq > ? ORDER BY seq LIMIT 100
            """
        return try db.mapped(sql, [last]) { row in
            (
                try row.needInteger("seq"), try row.needText("id"), try row.digest("sha256"),
                try row.needInteger("bytes"), try row.needText("holding") == Holding.spool.rawValue
            )
        }
    }

    /// Whether the queue still says that it has the bytes, although their file is missing or has a wrong size.
    private func isStillHeld(_ item: Item) throws -> Bool {
        let sql = "SELECT 1 FROM captures WHERE seq = ? AND holding = 'spool' AND sha256 = ?"
        let row = try queue.store.read { try $0.integer(sql, [item.sequence, item.sha256.data]) }
        return try row != nil && queue.spool.bundleStatus(item.sha256)?.size != item.bytes
    }

    /// - Returns: nil if the queue does not have the bytes.
    private mutating func bundle(_ item: Item) throws -> Spool.NewFile? {
        let path = queue.folder.bundlePath(item.sha256)
        guard let source = try queue.spool.open(item.sha256),
            try onFile(path, { try source.status().size }) == item.bytes
        else { return nil }
        // The folder has a file of a wrong size.
        _ = try spool.quarantine(item.sha256)
        let file = try copied(source, path)
        (result.copied, result.copiedBytes) = (result.copied + 1, result.copiedBytes + item.bytes)
        return (file, QueueFolder.shard(item.sha256), QueueFolder.bundleName(item.sha256))
    }

    /// - Returns: nil if there is none, or the folder has it.
    private func sidecar(_ item: Item) throws -> Spool.NewFile? {
        let path = queue.folder.sidecarPath(item.sha256)
        let source = try ifThere(path) { try FileHandle.reading(path, followsLinks: false) }
        guard let source else { return nil }
        let size = try onFile(path) { try source.status().size }
        let known = try? FileStatus.ofName(target.sidecarPath(item.sha256)).size
        if known == size { return nil }
        // Another push of the same bundle wrote another one.
        if known != nil { try spool.remove(RetentionPolicy.permitToReplaceSidecar(item.sha256)) }
        return (try copied(source, path), QueueFolder.shard(item.sha256), QueueFolder.sidecarName(item.sha256))
    }

    /// Copies a file to one without a name.
    private func copied(_ source: FileHandle, _ path: FilePath) throws(QueueError) -> AtomicFile {
        let file = try spool.openIncoming()
        source.expectReading()
        var buffer = [UInt8](repeating: 0, count: 1 << 18)
        if file.handle.clone(source) { return file }
        while case let count = try onFile(path, { try source.readSome(into: &buffer) }), count > 0 {
            try onFile(target.incoming) { try file.handle.write(buffer.span.extracting(first: count)) }
        }
        return file
    }

    /// Files of the folder whose captures the queue has deleted.
    func outdated(_ db: Database) throws -> [RemovalPermit] {
        var permits: [RemovalPermit] = []
        for shard in try spool.shards() {
            for sha256 in Set(try spool.names(inShard: shard).compactMap { Digest(hex: $0.stem) }) {
                let holdings = try db.rows("SELECT holding FROM captures WHERE sha256 = ?", [sha256.data]).map {
                    Holding(rawValue: try $0.needText("holding"))
                }
                permits += [RetentionPolicy.permitInBackup(sha256, holdings)].compactMap(\.self)
            }
        }
        return permits
    }
}
