import CaptureNative
import GRDB
import QueueModel
import SystemPackage

extension QueueError {
    /// Converts an error of SQLite to words for people; `QueueStore.isOfFullDisk` must be false for it.
    static func database(_ error: DatabaseError, _ path: FilePath) -> QueueError {
        switch error.resultCode {
        case .SQLITE_BUSY, .SQLITE_LOCKED:
            QueueError(.busy, "another program holds the database", of: path)
        case .SQLITE_CORRUPT, .SQLITE_NOTADB:
            QueueError(.damaged, "the database is damaged", of: path)
        case .SQLITE_IOERR:
            QueueError(
                .inputOutput, "the database cannot be read or written", of: path,
                cause: ProcessLimits.fileSize.map { _ in .fileSize },
                values: ProcessLimits.fileSize.map { [String($0)] } ?? [])
        case .SQLITE_CANTOPEN, .SQLITE_PERM, .SQLITE_AUTH:
            QueueError(.inputOutput, "the database cannot be opened", of: path)
        case .SQLITE_READONLY:
            QueueError(.inputOutput, "the database cannot be written: it is read-only", of: path)
        case .SQLITE_NOMEM:
            QueueError(.inputOutput, "memory ran out", of: path)
        default:
            // For example a missing table or a violated constraint. Our own statements cannot cause these.
            QueueError(
                .damaged, "another program may have changed the database (SQLite code \(error.resultCode.rawValue))",
                of: path)
        }
    }
}
