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

    func make(_ folder: FilePath) throws { try folder.makeFolder() }

    /// Makes this process the only receiver of the folder, until the descriptor is closed.
    func lock() throws -> FileDescriptor {
        let name = path.appending("lock")
        let file: FileDescriptor
        do {
            file = try FileDescriptor.open(
                name, .readWrite, options: [.create, .closeOnExec], permissions: .ownerReadWrite)
        } catch {
            throw Unusable("\(name): \(error)")
        }
        guard flock(file.rawValue, LOCK_EX | LOCK_NB) == 0 else {
            try file.close()
            throw Unusable("\(path): another receiver serves this folder; stop it first")
        }
        return file
    }

    /// SQLite stores into files that it maps into memory. On a full disk with blocks that are smaller than a page, that
    /// ends the process (SIGBUS).
    ///
    /// - Throws: `Unusable` if the disk is full.
    func requireRoom() throws {
        let free = try FileManager.default.attributesOfFileSystem(forPath: path.string)[.systemFreeSize] as? NSNumber
        guard let free, free.intValue < 1 << 20 else { return }
        throw Unusable("\(path): the disk is full: \(free) bytes are free; make room, and start again")
    }

    /// Removes the copies that a killed receiver left.
    func emptyScratch() throws {
        try FileManager.default.removeItem(atPath: scratch.string)
        try make(scratch)
    }
}

extension FilePath {
    /// Makes a folder if it is missing, private to the user. Its name is on the disk when the call returns.
    func makeFolder() throws {
        try FileManager.default.createDirectory(
            atPath: string, withIntermediateDirectories: true, attributes: [.posixPermissions: 0o700])
        let parent = removingLastComponent().isEmpty ? "." : removingLastComponent()
        do {
            let folder = try FileDescriptor.open(parent, .readOnly, options: [.directory, .closeOnExec])
            try folder.closeAfter {
                // Some file systems cannot sync a folder.
                guard fsync(folder.rawValue) == 0 || errno == EINVAL else { throw Errno(rawValue: errno) }
            }
        } catch {
            throw Unusable("\(parent): \(error)")
        }
    }
}
