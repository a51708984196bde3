import GRDB
import QueueModel
import SystemPackage

extension QueueError {
    /// What SQLite says, in words for people.
    static func database(_ error: DatabaseError, _ path: FilePath) -> QueueError {
        var failure = kind(of: error, path)
        // What SQLite needs beside the database has no message of its own for a full disk.
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
            QueueError(.damaged, "the database is damaged", of: path, hints: [salvageHint])
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
            // A table that is not there, a constraint that does not hold: nothing that our own statements can cause.
            QueueError(
                .damaged, "the database was changed by another program (SQLite code \(error.resultCode.rawValue))",
                of: path,
                hints: [salvageHint])
        }
    }
}
