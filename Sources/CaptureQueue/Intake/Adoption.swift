public import CaptureBundle
import CaptureNative
import QueueModel
import QueueTransports
import Synchronization
public import SystemPackage

/// What `adopt` found and left alone.
public struct LeftAlone: Sendable {
    /// The number of raw captures that were not packed.
    public var rawCaptures = 0
    /// Links, pipes and devices that are called a bundle.
    public var notFiles: [BundleError] = []

    public init(notFiles: [BundleError] = []) { self.notFiles = notFiles }
}

extension UploadQueue {
    /// Searches a folder and its subfolders for bundles that the queue does not hold, and pushes them.
    ///
    /// It does not follow symbolic links, and leaves out the queue's own folder and names of unfinished files. It
    /// recognises known bundles by their headers, so a second search reads little. What has a name that ends with
    /// `.bundle` is never skipped silently: a damaged file is pushed and so reported, a link or pipe is returned.
    ///
    /// - Parameters:
    ///   - packing: how to pack raw captures; nil to ignore them.
    ///   - deliver: gets the result for each bundle that was not stored yet.
    /// - Throws: `input.unreadable` for the folder itself; any error of `push`.
    @discardableResult
    public func adopt(
        _ path: FilePath, options: PushOptions = PushOptions(),
        packing: (packer: Packer, raw: RawCaptureOptions)? = nil,
        deliver: (_ file: String, Result<Pushed, any Error>) throws -> Void
    ) throws -> LeftAlone {
        let status: FileStatus
        do throws(NativeError) { status = try FileStatus.of(path) } catch { throw BundleError.reading(path, error) }
        guard status.kind == .folder else {
            throw BundleError(
                .inputUnreadable, "is not a folder", file: path,
                hints: ["add a single bundle with: capqueue push \(ShellWord.quote(path))"])
        }
        let walk = FolderWalk(path, leavesOut: folder.path, leavesUnfinished: true)
        let unreadable = Mutex<[BundleError]>([])
        let rawFolders = Mutex<[FilePath]>([])
        let notFiles = Mutex<[BundleError]>([])
        let isHeld = { @Sendable (identity: Digest) throws -> Bool in
            guard let record = try self.store.read({ try CaptureRecord.one($0, identity: identity) }) else {
                return false
            }
            return try self.isSafe(record)
        }
        try push(
            next: {
                while let found = walk.next() {
                    switch found {
                    case .failure(let error): unreadable.withLock { $0.append(error) }
                    case .success(.rawCapture(let path)): rawFolders.withLock { $0.append(path) }
                    case .success(.temporary): continue
                    case .success(.link(let path)):
                        let error = Self.notAFile(path, "a symbolic link")
                        notFiles.withLock { $0 += [error].compactMap(\.self) }
                    case .success(.special(let path)):
                        let error = Self.notAFile(path, "not a regular file")
                        notFiles.withLock { $0 += [error].compactMap(\.self) }
                    case .success(.file(let path)):
                        // Push refuses a file that is a bundle only by its name, and says what is wrong with it.
                        guard let identity = BundlePeek.identity(of: path) else {
                            if FolderWalk.isNamedBundle(path) { return .success(.file(path)) }
                            continue
                        }
                        if (try? isHeld(identity)) != true { return .success(.file(path)) }
                    }
                }
                return nil
            }, options: options, deliver: deliver)
        for error in unreadable.withLock(\.self) { try deliver(error.file ?? path.string, .failure(error)) }
        let found = rawFolders.withLock(\.self)
        var left = LeftAlone(notFiles: notFiles.withLock(\.self))
        guard let packing else {
            left.rawCaptures = found.count
            return left
        }
        for raw in found {
            guard let result = adopt(raw: raw, options, packing, isHeld: isHeld) else { continue }
            try deliver(raw.string, result)
        }
        return left
    }

    /// The error for a name of a bundle that is not a file; nil for any other name.
    private static func notAFile(_ path: FilePath, _ found: String) -> BundleError? {
        guard FolderWalk.isNamedBundle(path) else { return nil }
        return BundleError(.inputUnreadable, "is \(found), and is left alone", file: path)
    }

    /// Whether the capture need not be pushed again: its bytes are there, or were released.
    private func isSafe(_ record: CaptureRecord) throws -> Bool {
        switch record.holding {
        case .spool: try spool.bundleStatus(record.sha256)?.size == record.byteCount
        case .reference: SourceCheck.isThere(record)
        // A capture that the user cancelled and released stays released.
        case .removing, .removed: true
        case .quarantined, .missing: false
        }
    }

    /// - Returns: nil if the queue holds the capture.
    private func adopt(
        raw: FilePath, _ options: PushOptions, _ packing: (packer: Packer, raw: RawCaptureOptions),
        isHeld: (Digest) throws -> Bool
    ) -> Result<Pushed, any Error>? {
        do {
            // Packing always gives the same manifest, so a dry run shows whether the queue has the capture.
            let planned = try packing.packer.pack(raw, to: .standardOutput, options: packing.raw, isDryRun: true)
            let identity = try Digest.identity(
                manifestSHA256: planned.manifestSHA256, present: planned.manifest.entries.map(\.path))
            if try isHeld(identity) { return nil }
            let room = try onFile(SpoolFile.folder) { () throws(NativeError) in try TemporaryDirectory() }
            defer { room.remove() }
            let bundle = room.path.appending("packed.bundle")
            _ = try packing.packer.pack(raw, to: .file(bundle), options: packing.raw)
            return .success(try push(bundle, options))
        } catch {
            return .failure(error)
        }
    }
}
