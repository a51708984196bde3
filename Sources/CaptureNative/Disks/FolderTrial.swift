import Glibc
package import SystemPackage

/// Tries on a file what a queue needs of its file system (Spec/queue.md section 2.1). The file is removed again.
package final class FolderTrial {
    /// Something that the file system refuses or does not do.
    package enum Lack: Hashable, Sendable {
        /// A new file has these permissions, or this owner, in place of those that were asked for.
        case privacy(mode: UInt32), owner(UInt32)
        /// `flock`; byte-range locks (`fcntl`); a map that two have in common; both kinds of sync; a rename.
        case fileLock(String), rangeLock(String), sharedMap(String), sync(String), rename(String)
    }

    private let folder: FolderHandle
    private let name: FilePath.Component
    private let file: FileHandle
    /// The file, opened once more: another process would have it like this.
    private let other: FileHandle
    private static let length = 4096

    private init(_ folder: FolderHandle, _ name: FilePath.Component) throws(NativeError) {
        (self.folder, self.name) = (folder, name)
        file = try folder.open(name, FileHandle.newFile, mode: 0o600)
        try file.write([UInt8](repeating: 0, count: Self.length))
        other = try folder.open(name, O_RDWR | O_NOFOLLOW)
    }

    /// - Parameter target: The folder on the same file system to which files are moved.
    /// - Returns: what is missing; nothing if the file system has it all.
    /// - Throws: if the folder takes no file, or the disk is full.
    package static func lacks(of path: FilePath, movingTo target: FilePath) throws(NativeError) -> [Lack] {
        let (folder, there) = (
            try FolderHandle(path, followsLinks: false), try FolderHandle(target, followsLinks: false)
        )
        // A trial that was killed has left its file in one of them.
        for (place, handle) in [(path, folder), (target, there)] {
            for name in try Folders.names(in: place) where FolderHandle.isOfTrial(name) { handle.remove(name) }
        }
        let name = FolderHandle.trialName()
        // The file is closed by then: some mounts store a file when it is closed, also after its name was removed.
        defer { for folder in [folder, there] { folder.remove(name) } }
        return try lacks(of: name, folder, there)
    }

    private static func lacks(
        of name: FilePath.Component, _ folder: FolderHandle, _ target: FolderHandle
    ) throws(NativeError) -> [Lack] {
        let trial = try begun(folder, name)
        var lacks = try trial.foreignness()
        for (attempt, lack) in [
            (trial.lock, Lack.fileLock), (trial.lockRange, Lack.rangeLock), (trial.map, Lack.sharedMap),
            (trial.synchronize, Lack.sync), ({ () throws(NativeError) in try trial.move(to: target) }, Lack.rename),
        ] as [(() throws(NativeError) -> String?, (String) -> Lack)] {
            do throws(NativeError) {
                if let found = try attempt() { lacks.append(lack(found)) }
            } catch {
                if error.isDiskFull { throw error }
                lacks.append(lack(error.description))
            }
        }
        return lacks
    }

    private static func begun(_ folder: FolderHandle, _ name: FilePath.Component) throws(NativeError) -> FolderTrial {
        // Another trial that begins may take the file for a leftover, before it is opened once more.
        for _ in 0..<100 {
            do throws(NativeError) { return try FolderTrial(folder, name) } catch  where error.isMissing {}
        }
        return try FolderTrial(folder, name)
    }

    private func foreignness() throws(NativeError) -> [Lack] {
        let status = try file.status()
        return (status.isOpenToOthers ? [.privacy(mode: status.mode)] : [])
            + (status.isThisUsers ? [] : [.owner(status.owner)])
    }

    private func lock() throws(NativeError) -> String? {
        try NativeError.retrying("flock") { flock(file.descriptor, LOCK_EX | LOCK_NB) }
        guard !other.lockIfFree() else { return "two have the lock" }
        try NativeError.retrying("flock") { flock(file.descriptor, LOCK_UN) }
        return nil
    }

    /// Does what SQLite does: it shares a lock on some bytes and then makes it exclusive, which SMB refuses.
    private func lockRange() throws(NativeError) -> String? {
        for kind in [F_RDLCK, F_WRLCK] { try lockRange(file, F_SETLK, kind) }
        // A lock that belongs to the open file excludes those of this process, as one of another process would.
        guard (try? lockRange(other, Self.lockOfOpenFile, F_WRLCK)) == nil else { return "two have the lock" }
        try lockRange(file, F_SETLK, F_UNLCK)
        return nil
    }

    /// F_OFD_SETLK of fcntl.h, which Swift's Glibc module does not define.
    private static let lockOfOpenFile: Int32 = 37

    private func lockRange(_ handle: FileHandle, _ command: Int32, _ kind: Int32) throws(NativeError) {
        var range = Glibc.flock()
        (range.l_type, range.l_whence, range.l_start, range.l_len) = (Int16(kind), Int16(SEEK_SET), 120, 8)
        try NativeError.retrying("fcntl") { unsafe fcntl(handle.descriptor, command, &range) }
    }

    /// Stores through one map and loads through another. The system calls do it: a map that fails ends a process that
    /// touches it (SIGBUS), but a call only reports EFAULT.
    private func map() throws(NativeError) -> String? {
        let written: [UInt8] = Array("capqueue".utf8)
        let memory = try TemporaryFile.inMemory()
        try memory.write(written + written.reversed())
        let (one, two) = (try SharedMap(file, Self.length), try SharedMap(other, Self.length))
        try one.fill(from: memory, at: 0, written.count)
        try two.copy(to: memory, at: written.count, written.count)
        try memory.seek(to: written.count)
        var read = [UInt8](repeating: 0, count: written.count)
        _ = try memory.read(into: &read)
        return read == written ? nil : "mmap: a change through one map does not show in another"
    }

    private func synchronize() throws(NativeError) -> String? {
        try file.synchronize()
        try folder.synchronize()
        return nil
    }

    private func move(to target: FolderHandle) throws(NativeError) -> String? {
        // Another trial may take it for a leftover.
        do throws(NativeError) { try folder.rename(name, to: target, as: name) } catch  where error.isMissing {}
        return nil
    }
}

/// A page of a file in memory, shared with all who map it.
@safe
private final class SharedMap {
    private let address: UnsafeMutableRawPointer
    private let count: Int

    init(_ file: FileHandle, _ count: Int) throws(NativeError) {
        guard let found = unsafe mmap(nil, count, PROT_READ | PROT_WRITE, MAP_SHARED, file.descriptor, 0),
            unsafe found != MAP_FAILED
        else { throw .system("mmap") }
        unsafe address = found
        self.count = count
    }

    deinit { unsafe _ = munmap(address, count) }

    func fill(from file: FileHandle, at offset: Int, _ bytes: Int) throws(NativeError) {
        try NativeError.retrying("mmap") { unsafe pread(file.descriptor, address, bytes, offset) }
    }

    func copy(to file: FileHandle, at offset: Int, _ bytes: Int) throws(NativeError) {
        try NativeError.retrying("mmap") { unsafe pwrite(file.descriptor, address, bytes, offset) }
    }
}
