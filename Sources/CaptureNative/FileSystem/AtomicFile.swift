import CLinux
package import Glibc
import Synchronization
package import SystemPackage

/// A file that appears under its name either complete or not at all, and is still there after a power cut.
///
/// The bytes go to a file without a name (`O_TMPFILE`), which disappears if the process crashes. Replacing a file needs a
/// hidden name, and so do file systems without `O_TMPFILE`. A killed process can leave that name behind: see
/// `TemporaryName`.
///
/// `commit` is the only function that publishes a file on which a promise rests (Spec/queue.md section 7.2).
package final class AtomicFile: Sendable {
    package enum Existing: Sendable { case refuse, replace }

    /// How to choose the hidden name that a file briefly has before it gets its own.
    package enum TemporaryName: Sendable {
        /// A name that nobody else uses. A process that is killed at the wrong moment leaves the file behind.
        case random
        /// Always the same name, for callers that hold a lock. The next write removes what a killed process left
        /// behind, or uses a random name if that could damage the file itself.
        case fixed
    }

    /// A file, and the name that it gets.
    package struct Naming: Sendable {
        package let file: AtomicFile
        let name: FilePath.Component
        let folder: FolderHandle
        let existing: Existing

        package init(_ file: AtomicFile, as name: FilePath.Component, in folder: FolderHandle, _ existing: Existing) {
            (self.file, self.name, self.folder, self.existing) = (file, name, folder, existing)
        }
    }

    package let handle: FileHandle
    /// The name for which the file was made, and its folder. The folder is opened at once, so that a folder that cannot
    /// be synced is refused before anything is written.
    private let name: FilePath.Component
    private let folder: FolderHandle
    /// The name that the file has before it gets its own, if it needs one.
    package let hiddenName: FilePath.Component
    /// The hidden name that exists now; nil while there is none.
    private let temporaryName: Mutex<FilePath.Component?>
    /// Whether the hidden name stays when this object is released.
    private let isKept = Mutex(false)

    /// - Throws: `NativeError` if the folder is missing or not accessible, or if the path does not end with a name
    ///   (`EISDIR`).
    package convenience init(
        path: FilePath, mode: mode_t, temporaryName: TemporaryName = .random
    ) throws(NativeError) {
        guard let name = path.name else { throw .system("open", EISDIR) }
        try self.init(name, in: FolderHandle(path.folder), mode: mode, temporaryName: temporaryName)
    }

    /// - Parameter folder: The folder in which the file appears, even if that folder is moved meanwhile.
    package convenience init(
        _ name: FilePath.Component, in folder: FolderHandle, mode: mode_t, temporaryName: TemporaryName = .random
    ) throws(NativeError) {
        var hidden = Self.hiddenName(for: name, temporaryName)
        if temporaryName == .fixed, !folder.removeLeftover(hidden, of: name) {
            hidden = Self.hiddenName(for: name, .random)
        }
        try self.init(name, hiddenName: hidden, in: folder, mode: mode)
    }

    /// - Parameters:
    ///   - name: nil for a file whose name and folder are known only later: they are given to `Naming`.
    ///   - hiddenName: The name that the file has in `folder` before it gets its own, if the file system needs one.
    ///   - allowsUnnamed: False for tests, to behave as on a file system without `O_TMPFILE`.
    package init(
        _ name: FilePath.Component? = nil, hiddenName: FilePath.Component, in folder: FolderHandle, mode: mode_t,
        allowsUnnamed: Bool = true
    ) throws(NativeError) {
        (self.name, self.hiddenName, self.folder) = (name ?? hiddenName, hiddenName, folder)
        if allowsUnnamed, let unnamed = try folder.openUnnamed(mode: mode) {
            handle = unnamed
            temporaryName = Mutex(nil)
        } else {
            handle = try folder.open(hiddenName, FileHandle.newFile, mode: mode)
            temporaryName = Mutex(hiddenName)
        }
    }

    deinit {
        if let name = temporaryName.withLock(\.self), !isKept.withLock(\.self) { folder.remove(name) }
    }

    /// The name for which the file was made.
    package func naming(_ existing: Existing) -> Naming { Naming(self, as: name, in: folder, existing) }

    /// Gives the file the name for which it was made. Once the call has returned, the file survives a power cut.
    ///
    /// - Throws: `EEXIST` if the name is taken and `existing` is `.refuse`; nothing is changed then.
    package func commit(_ existing: Existing) throws(NativeError) {
        for case .some(let error) in Self.commit([naming(existing)]) { throw error }
    }

    /// Gives files their names so that a power cut takes neither away: all bytes are synced, then all names are given,
    /// then the files are synced again under their names, then the folders. The order shares the waits for the disk.
    ///
    /// - Parameters:
    ///   - areSynced: Whether the caller has synced all bytes already.
    ///   - stopsAtFailure: Whether files after a failed one get no name.
    /// - Returns: For each file up to the one at which it stopped, the error, or nil if it is on the disk under its name.
    package static func commit(
        _ namings: [Naming], areSynced: Bool = false, stopsAtFailure: Bool = false
    ) -> [NativeError?] {
        var errors = [NativeError?](repeating: nil, count: namings.count)
        if !areSynced {
            if namings.count > 1 { for naming in namings { naming.file.handle.startWriting(from: 0, count: 0) } }
            for (index, naming) in namings.enumerated() {
                errors[index] = NativeError.of { () throws(NativeError) in try naming.file.handle.synchronize() }
            }
        }
        let moved = namings.filter { $0.file.hasHiddenName && $0.folder !== $0.file.folder }
        for (index, naming) in namings.enumerated() {
            if errors[index] == nil {
                errors[index] = NativeError.of { () throws(NativeError) in try naming.file.give(naming) }
            }
            if errors[index] != nil && stopsAtFailure {
                errors.removeSubrange((index + 1)...)
                break
            }
        }
        let named = errors.indices.filter { errors[$0] == nil }
        let failure = NativeError.of { () throws(NativeError) in
            try FolderHandle.synchronize(naming: named.map { (namings[$0].file.handle, namings[$0].folder) })
            if !named.isEmpty { try moved.first?.file.folder.synchronize() }
        }
        for place in named { errors[place] = failure }
        return errors
    }

    private var hasHiddenName: Bool { temporaryName.withLock { $0 != nil } }

    /// Gives the file its name without any sync.
    private func give(_ naming: Naming) throws(NativeError) {
        switch (naming.existing, temporaryName.withLock(\.self)) {
        case (.refuse, let known?): try folder.move(known, to: naming.folder, as: naming.name)
        case (.refuse, nil): try naming.folder.link(handle, as: naming.name)
        case (.replace, _):
            try publishHidden()
            try folder.rename(hiddenName, to: naming.folder, as: naming.name)
        }
        temporaryName.withLock { $0 = nil }
    }

    /// Gives the file its hidden name, if it does not have one yet. The name is removed with this object, unless `keep`
    /// is called. Nothing is synced: see `FolderHandle.synchronize(naming:)`.
    package func publishHidden() throws(NativeError) {
        guard !hasHiddenName else { return }
        try folder.link(handle, as: hiddenName)
        temporaryName.withLock { $0 = hiddenName }
    }

    /// Leaves the file under its hidden name if it never gets its own.
    package func keep() { isKept.withLock { $0 = true } }

    /// Creates a small file durably, unless the name exists. Callers need no lock.
    ///
    /// - Returns: false if the name exists. That file is on the disk too, although its creator may have failed to sync it.
    package static func create(_ bytes: [UInt8], at path: FilePath, mode: mode_t) throws(NativeError) -> Bool {
        let file = try AtomicFile(path: path, mode: mode)
        try file.handle.write(bytes)
        do throws(NativeError) {
            try file.commit(.refuse)
            return true
        } catch  where error.isExisting {
            try file.folder.synchronize(renamed: file.name)
            return false
        }
    }

    /// Writes a small file atomically and durably, for callers that hold its lock. Where a power cut during a rename can
    /// leave neither the old file nor the new one, a copy of the new one is kept meanwhile, for `isThere`.
    package static func write(
        _ bytes: [UInt8], to path: FilePath, mode: mode_t, existing: Existing
    ) throws(NativeError) {
        if existing == .replace, let name = path.name, case let folder = try FolderHandle(path.folder),
            !folder.fileSystem.renamesInOneStep, folder.kind(of: name) == .file
        {
            let kept = keptName(of: name)
            let copy = try folder.open(kept, O_RDWR | O_CREAT | O_TRUNC | O_NOFOLLOW, mode: mode)
            defer { folder.remove(kept) }
            try copy.write(bytes)
            try copy.synchronize()
            try folder.synchronize()
            return try publish(bytes, to: path, mode: mode, existing)
        }
        try publish(bytes, to: path, mode: mode, existing)
    }

    private static func publish(
        _ bytes: [UInt8], to path: FilePath, mode: mode_t, _ existing: Existing
    ) throws(NativeError) {
        let file = try AtomicFile(path: path, mode: mode, temporaryName: .fixed)
        try file.handle.write(bytes)
        try file.commit(existing)
    }

    /// Whether the file exists. One that a power cut took while `write` replaced it is written again first, from the kept
    /// copy. A file counts as there if the disk fails, so that it is not taken for a new one: reading it gives the reason.
    package static func isThere(_ path: FilePath) -> Bool {
        do throws(NativeError) {
            _ = try FileStatus.ofName(path)
            return true
        } catch  where error.isOfDevice {
            return true
        } catch {}
        guard let name = path.name, let folder = try? FolderHandle(path.folder) else { return false }
        let kept = keptName(of: name)
        guard let copy = try? folder.open(kept, FileHandle.existingFile), let status = try? copy.status(),
            status.kind == .file, status.isThisUsers, let bytes = try? copy.readAll(limit: 1 << 24),
            (try? publish(bytes, to: path, mode: mode_t(status.mode), .refuse)) != nil
        else { return FileStatus.exists(path) }
        folder.remove(kept)
        return true
    }

    /// The copy is never renamed, so it never shares its bytes with the file.
    private static func keptName(of name: FilePath.Component) -> FilePath.Component {
        FilePath.Component(Array(".".utf8) + name.bytes.prefix(180) + Array(".kept.tmp".utf8)) ?? ".capture.kept.tmp"
    }

    /// Writes a small file atomically but without syncing, for data that need not survive a crash of the machine.
    package static func writeUnsynced(_ bytes: [UInt8], to path: FilePath, mode: mode_t) throws(NativeError) {
        let file = try AtomicFile(path: path, mode: mode, temporaryName: .fixed)
        try file.handle.write(bytes)
        try file.give(file.naming(.replace))
    }

    /// Shortens the name, because file systems allow 255 bytes for the whole hidden name.
    package static func hiddenName(for name: FilePath.Component, _ kind: TemporaryName) -> FilePath.Component {
        var generator = SystemRandomNumberGenerator()
        let suffix = kind == .fixed ? "new" : String(generator.next(), radix: 36)
        let bytes = Array(".".utf8) + name.bytes.prefix(180) + Array(".\(suffix).tmp".utf8)
        return FilePath.Component(bytes) ?? ".capture.tmp"
    }
}

extension NativeError {
    /// The error of a step; nil if it succeeds.
    fileprivate static func of(_ step: () throws(NativeError) -> Void) -> NativeError? {
        do {
            try step()
            return nil
        } catch {
            return error
        }
    }
}
