import Foundation
import Glibc
import SystemPackage

/// The folder of a receiver and the names in it.
struct ReceiverFolder: Sendable {
    let path: FilePath

    var queue: FilePath { path.appending("queue") }
    /// The folder to which the queue sends captures if no other destination is set.
    var kept: FilePath { path.appending("kept") }
    /// The default object store.
    var shared: FilePath { path.appending("shared") }
    /// Copies of bundles for pages.
    var scratch: FilePath { path.appending("scratch") }
    var operatorToken: FilePath { path.appending("operator-token") }
    var index: FilePath { path.appending("index.sqlite") }

    var exists: Bool { FileManager.default.fileExists(atPath: shared.string) }

    func make() throws {
        for folder in [path, shared, scratch] { try make(folder) }
    }

    /// Makes a folder if it is missing, private to the user.
    func make(_ folder: FilePath) throws {
        try FileManager.default.createDirectory(
            atPath: folder.string, withIntermediateDirectories: true, attributes: [.posixPermissions: 0o700])
    }

    /// Makes this process the only receiver of the folder, until the descriptor is closed.
    func lock() throws -> FileDescriptor {
        let file = try FileDescriptor.open(
            path.appending("lock"), .readWrite, options: [.create, .closeOnExec], permissions: .ownerReadWrite)
        guard flock(file.rawValue, LOCK_EX | LOCK_NB) == 0 else {
            try file.close()
            throw Unusable("\(path): another receiver serves this folder; stop it first")
        }
        return file
    }

    /// Removes the copies that a killed receiver left.
    func emptyScratch() throws {
        try FileManager.default.removeItem(atPath: scratch.string)
        try make(scratch)
    }
}
