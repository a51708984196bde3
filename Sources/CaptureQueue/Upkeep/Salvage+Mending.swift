import CaptureBundle
import CaptureNative
import GRDB
import QueueFiles
import QueueModel
import SystemPackage

/// Mending a database whose rows are whole, so that it keeps what only a database has: what was sent, cancelled and held.
extension Salvage {
    /// Builds the indexes again in a copy of the database, and puts the copy in its place.
    ///
    /// The copy has to be sound, and to list exactly the files of the spool. Otherwise its rows may be those of an
    /// earlier time, and what waits by them may have been sent or cancelled since.
    ///
    /// - Returns: nil if the copy cannot be used. Then the database has not changed.
    func repair() throws -> SalvageResult? {
        try removeLeftovers()
        guard let listed = try repairedCopy(), try isSpool(listed) else { return nil }
        var result = SalvageResult()
        result.isMended = true
        result.oldDatabase = try replaceDatabase()
        return result
    }

    /// What a row says about the files of its bundle.
    private typealias Listed = (holding: Holding, byteCount: Int)

    /// - Returns: what the copy lists; nil if it is not sound.
    /// - Throws: an error that says nothing about the database, such as that of a full disk.
    private func repairedCopy() throws -> [Digest: Listed]? {
        do {
            try Schema.requireHeader(folder)
            let old = try QueueStore.connect(folder.database)
            try old.read { try Schema.requireOurs($0, in: folder) }
            let copy = try QueueStore.connect(newDatabase)
            try old.backup(to: copy)
            try old.close()
            try copy.write { try $0.execute(sql: "REINDEX") }
            try Schema.migrator.migrate(copy)
            guard try copy.read({ try $0.isSound(comparesIndexes: true) }) else { return nil }
            let listed = try copy.read { db in
                let sql = "SELECT sha256, holding, bytes FROM captures WHERE holding <> 'removed'"
                return try db.mapped(sql, []) { row in
                    (try row.digest("sha256"), (try CaptureRecord.holding(row), try row.needInteger("bytes")))
                }
            }
            try finish(copy)
            return Dictionary(listed) { first, _ in first }
        } catch let error as DatabaseError
            where [.SQLITE_BUSY, .SQLITE_NOMEM].contains(error.resultCode) || QueueStore.isOfFullDisk(error, folder)
        {
            throw error
        } catch {
            return nil
        }
    }

    /// Whether each row that has its bytes in the spool has its file, and each file has a row.
    private func isSpool(_ listed: [Digest: Listed]) throws -> Bool {
        for (sha256, row) in listed where row.holding == .spool {
            guard try spool.bundleStatus(sha256)?.size == row.byteCount else { return false }
        }
        for shard in try spool.shards() {
            for name in try spool.names(inShard: shard) {
                guard let sha256 = Digest(hex: name.stem) else { continue }
                guard let row = listed[sha256] else { return false }
                let isSidecar = name == QueueFolder.sidecarName(sha256)
                guard isSidecar || [.spool, .removing, .quarantined].contains(row.holding) else { return false }
            }
        }
        return true
    }
}
