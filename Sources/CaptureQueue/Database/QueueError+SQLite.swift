import GRDB
import QueueModel
import SystemPackage

extension QueueError {
    /// Converts an error of SQLite to words for people.
    static func database(_ error: DatabaseError, _ path: FilePath) -> QueueError {
        var failure = kind(of: error, path)
        // SQLite has no error code of its own for a full disk when it makes the shared-memory file.
        failure.isDiskFull = error.resultCode == .SQLITE_FULL || isOfSharedMemory(error)
        return failure
    }

    private static func isOfSharedMemory(_ error: DatabaseError) -> Bool {
        [.SQLITE_IOERR_SHMSIZE, .SQLITE_IOERR_SHMOPEN].contains(error.extendedResultCode)
    }

    private static func kind(of error: DatabaseError, _ path: FilePath) -> QueueError {
        switch error.resultCode {
        case .SQLITE_BUSY, .SQLITE_LOCKED:
            QueueError(.busy, "another program holds the database", of: path)
        case .SQLITE_FULL:
            QueueError(.inputOutput, "the disk is full", of: path)
        case .SQLITE_CORRUPT, .SQLITE_NOTADB:
            QueueError(.damaged, "the database is damaged", of: path, hints: [.salvage])
        case .SQLITE_IOERR where isOfSharedMemory(error):
            QueueError(.inputOutput, "the database cannot be opened: there may be no room on the disk", of: path)
        case .SQLITE_IOERR:
            QueueError(.inputOutput, "the database cannot be read or written", of: path)
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
                of: path,
                hints: [.salvage])
        }
    }
}
