public import CaptureBundle
import CaptureNative
import QueueFiles
public import QueueModel
import QueueTransports
import Synchronization
public import SystemPackage

/// What `adopt` found and left alone.
public struct LeftAlone: Sendable {
    /// Raw captures, which are not packed.
    public var rawCaptures: [FilePath] = []
    /// Links, pipes and devices that are called a bundle.
    public var notFiles: [BundleError] = []
    /// Files to which another queue referred, and which this queue does not have: only their sidecars were found.
    public var references: [FilePath] = []

    public init() {}

    fileprivate mutating func note(_ path: FilePath, is found: String) {
        guard FolderWalk.isNamedBundle(path) else { return }
        notFiles.append(BundleError(.inputUnreadable, "is \(found), and is left alone", file: path))
    }
}

/// Bundles that another queue had.
private struct KnownBundles {
    private var found: [(turn: (Int, Int, Int, String), path: FilePath)] = []
    private var isSorted = false

    mutating func add(_ path: FilePath, _ sidecar: Sidecar) { found.append((sidecar.turn, path)) }

    /// Returns one after the other in the order of their pushes, once all were found.
    mutating func next() -> FilePath? {
        if !isSorted { found.sort { $0.turn > $1.turn } }
        isSorted = true
        return found.popLast()?.path
    }
}

extension UploadQueue.Captures {
    /// Searches a folder and its subfolders for bundles that the queue does not hold, and pushes them.
    ///
    /// It does not follow symbolic links, and leaves out the queue's own folder and names of unfinished files. It
    /// recognises known bundles by their headers, so a second search reads little. What has a name that ends with
    /// `.bundle` is never skipped silently: a damaged file is pushed and so reported, a link or pipe is returned.
    ///
    /// A bundle with its sidecar beside it, as in the spool of another queue, keeps what the sidecar knows. It may have been
    /// sent or cancelled there, so it is held, and asked for before it is sent.
    ///
    /// - Parameters:
    ///   - releases: whether bundles with sidecars wait to be sent, and are not held.
    ///   - deliver: gets the result for each bundle that was not stored yet.
    /// - Throws: `input.unreadable` for the folder itself; any error of `push`.
    @discardableResult
    public func adopt(
        _ path: FilePath, options: PushOptions = PushOptions(), releases: Bool = false,
        deliver: (_ file: String, Result<Pushed, any Error>) throws -> Void
    ) throws -> LeftAlone {
        let status = try native({ .reading(path, $0) }) { try FileStatus.of(path) }
        guard status.kind == .folder else {
            throw QueueError(.inputUnreadable, "is not a folder", of: path, cause: .file)
        }
        let walk = FolderWalk(path, leavesOut: queue.folder.path, leavesUnfinished: true)
        let unreadable = Mutex<[BundleError]>([])
        let left = Mutex(LeftAlone())
        // Those of another queue come last, in the order of their pushes.
        let known = Mutex(KnownBundles())
        var options = options
        options.adopts = releases ? .pending : .held
        try queue.push(
            next: {
                while let found = walk.next() {
                    switch found {
                    case .failure(let error): unreadable.withLock { $0.append(error) }
                    case .success(.rawCapture(let path)): left.withLock { $0.rawCaptures.append(path) }
                    case .success(.temporary): continue
                    case .success(.link(let path)): left.withLock { $0.note(path, is: "a symbolic link") }
                    case .success(.special(let path)): left.withLock { $0.note(path, is: "not a regular file") }
                    case .success(.file(let path)):
                        // Push refuses a file that is a bundle only by its name, and says what is wrong with it.
                        guard let identity = BundlePeek.identity(of: path) else {
                            if FolderWalk.isNamedBundle(path) { return .success(.file(path)) }
                            if path.extension == "json", let sidecar = StoredBundle.unverifiedSidecar(beside: path),
                                let file = sidecar.reference, (try? self.holds(sidecar.facts.identity)) == false
                            {
                                left.withLock { $0.references.append(FilePath(file)) }
                            }
                            continue
                        }
                        if (try? self.holds(identity)) == true { continue }
                        guard let sidecar = StoredBundle.unverifiedSidecar(beside: path) else {
                            return .success(.file(path))
                        }
                        known.withLock { $0.add(path, sidecar) }
                    }
                }
                return known.withLock { $0.next() }.map { .success(.file($0)) }
            }, options: options, deliver: deliver)
        for error in unreadable.withLock(\.self) { try deliver(error.file ?? path.string, .failure(error)) }
        return left.withLock(\.self)
    }

    /// Whether the bytes of the capture with this identity (Spec/queue.md section 3) are there, or were released.
    package func holds(_ identity: Digest) throws -> Bool {
        guard let record = try queue.store.read({ try CaptureRecord.one($0, identity: identity) }) else { return false }
        return switch record.holding {
        case .spool, .reference: StoredBytesCheck(spool: queue.spool).check(record, reads: false).fault == nil
        // A capture that the user cancelled and released stays released.
        case .removing, .removed: true
        case .quarantined, .missing: false
        }
    }
}
