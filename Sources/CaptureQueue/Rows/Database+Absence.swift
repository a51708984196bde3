import CaptureNative
import GRDB
import QueueFiles
import QueueModel
import SystemPackage

/// Tells files that are gone from files that are absent with their folder, as on a disk that is not mounted
/// (Spec/queue.md section 11). The latter come back, so their captures wait.
enum Absence {
    /// The code of a delivery that waits for such a file.
    static let code = "source.absent"

    /// How long such a delivery waits before the file is looked for again, in milliseconds.
    static let pause = 300_000

    /// The folder that is missing or empty.
    ///
    /// - Returns: nil if the file is there, or if it alone is missing.
    static func root(of path: FilePath) -> FilePath? {
        guard FileStatus.isMissing(path) else { return nil }
        var folder = path.folder
        if isEmpty(folder) { return folder }
        guard FileStatus.isMissing(folder) else { return nil }
        while folder.folder != folder, FileStatus.isMissing(folder.folder) { folder = folder.folder }
        // The place to which a disk is mounted is empty while it is not.
        return isEmpty(folder.folder) ? folder.folder : folder
    }

    private static func isEmpty(_ folder: FilePath) -> Bool {
        (try? Folders.names(in: folder))?.isEmpty ?? false
    }

    static func message(_ root: FilePath) -> String { "\(root) is missing or empty: is its disk mounted?" }
}

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

    /// Makes all deliveries due that waited with this message. Their `not_before` counts again with `limitWaits`.
    func comeBack(_ message: String, at now: Int) throws {
        try run(
            """
            UPDATE deliveries SET due = ?, error_code = NULL, error_message = NULL
            WHERE error_code = '\(Absence.code)' AND error_message = ? AND state IN ('pending', 'failed')
            """, [now, message])
    }

    /// Makes deliveries due whose file is there again.
    func comeBack(_ record: CaptureRecord, at now: QueueClock.Reading) throws {
        for delivery in record.deliveries where [.pending, .failed].contains(delivery.state) {
            try run(
                "UPDATE deliveries SET due = ?, error_code = NULL, error_message = NULL WHERE id = ? AND error_code = ?",
                [due(of: delivery, now), delivery.number, Absence.code])
        }
    }
}

extension QueueStore {
    /// Looks once at each folder for which deliveries wait.
    ///
    /// - Returns: the messages of deliveries whose folder is there again.
    func returned() throws -> [String] {
        let sql = """
            SELECT error_message AS message, min(reference) AS path
            FROM deliveries INDEXED BY deliveries_absent JOIN captures ON seq = capture
            WHERE error_code = '\(Absence.code)' AND deliveries.state IN ('pending', 'failed') AND reference IS NOT NULL
            GROUP BY error_message
            """
        let waiting = try read { try $0.mapped(sql, []) { (try $0.needText("message"), try $0.needText("path")) } }
        return waiting.filter { Absence.root(of: FilePath($1)).map(Absence.message) != $0 }.map(\.0)
    }

    /// Refuses to go on if bundles are stored in the spool, but the folder is missing or empty.
    ///
    /// - Throws: `spool.missing`.
    func requireSpool() throws {
        let files = try read { try $0.integer("SELECT files FROM usage") } ?? 0
        guard files > 0, try Spool(folder: folder).shards().isEmpty else { return }
        throw QueueError(
            .spoolMissing, "is missing or empty, but \(files) bundles are stored in it: is its disk mounted?",
            of: folder.spool, hints: [.checkRepair])
    }
}
