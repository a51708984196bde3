import CaptureNative
import GRDB
import QueueFiles
import QueueModel
import SystemPackage

extension Database {
    /// Lets the deliveries of all references below a folder wait.
    func postpone(below root: FilePath, until due: Int) throws {
        // "0" is the character after "/".
        try run(
            """
            UPDATE deliveries SET due = max(due, ?), error_code = ?, error_message = ?
            WHERE state IN ('pending', 'failed') AND capture IN (SELECT seq FROM captures INDEXED BY captures_reference
                WHERE holding = 'reference' AND reference > ? AND reference < ?)
            """, [due, Absence.code, Absence.message(root), "\(root)/", "\(root)0"])
    }

    /// Makes a delivery due that waited for its file.
    func comeBack(_ delivery: Int, due: Int) throws {
        try run(
            "UPDATE deliveries SET due = ?, error_code = NULL, error_message = NULL WHERE id = ? AND error_code = ?",
            [due, delivery, Absence.code])
    }
}

extension QueueStore {
    /// Looks once at each folder for which deliveries wait.
    ///
    /// - Returns: the deliveries whose folder is there again.
    func returned() throws -> [Int] {
        let sql = """
            SELECT deliveries.id AS id, reference FROM deliveries INDEXED BY deliveries_absent JOIN captures ON seq = capture
            WHERE error_code = '\(Absence.code)' AND deliveries.state IN ('pending', 'failed') AND reference IS NOT NULL
            """
        let waiting = try read { try $0.mapped(sql, []) { (try $0.needInteger("id"), try $0.needText("reference")) } }
        var isThere: [FilePath: Bool] = [:]
        return waiting.compactMap { number, reference in
            let path = FilePath(reference)
            let isBack = isThere[path.folder] ?? (Absence.root(of: path) == nil)
            isThere[path.folder] = isBack
            return isBack ? number : nil
        }
    }

    /// Refuses to go on if bundles are stored in the spool, but the folder is missing or empty.
    ///
    /// - Throws: `spool.missing`.
    func requireSpool() throws {
        let files = try read { try $0.integer("SELECT files FROM usage") } ?? 0
        guard files > 0, try Spool(folder: folder).shards().isEmpty else { return }
        let what = files == 1 ? "1 bundle is" : "\(files) bundles are"
        throw QueueError(
            .spoolMissing, "is missing or empty, but \(what) stored in it: is its disk mounted?",
            of: folder.spool)
    }
}
