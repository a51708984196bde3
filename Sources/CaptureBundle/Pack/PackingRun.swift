import CaptureNative
import Synchronization
public import SystemPackage

/// Packs many raw captures with one key on several threads, and reports the results in the order of the captures.
///
/// ```swift
/// let run = try PackingRun(rawFolders, into: "bundles", packer: packer)
/// try run.pack { item, result in print(item.raw, result) }
/// ```
public struct PackingRun: Sendable {
    /// One capture and the place for its bundle.
    public struct Item: Sendable {
        /// The raw folder.
        public let raw: FilePath
        public let output: OutputPlace
        /// An error that was found before any work and that keeps the capture from being packed.
        let problem: BundleError?
    }

    public let items: [Item]
    private let folder: FilePath
    private let packer: Packer

    /// Chooses the names of the bundles, `<raw name>.bundle`, and refuses clashes.
    ///
    /// - Parameters:
    ///   - raws: The raw folders. A failure stands for a name that could not be read; it becomes the result of that
    ///     capture.
    ///   - replaces: Whether existing bundles are replaced.
    /// - Throws: `raw.clash` if two captures have the same name, `output.exists` for the first bundle that exists
    ///   already, and `output.unusable` if `folder` is not a folder. Nothing is written then.
    public init(
        _ raws: [Result<FilePath, BundleError>], into folder: FilePath, replaces: Bool = false, packer: Packer
    ) throws(BundleError) {
        self.packer = packer
        self.folder = folder
        var owners: [FilePath.Component: FilePath] = [:]
        items = try raws.map { raw throws(BundleError) in
            let item = Self.item(raw, folder, replaces: replaces)
            if item.problem == nil, let name = item.output.path?.name,
                let other = owners.updateValue(item.raw, forKey: name)
            {
                throw BundleError(
                    .rawClash, "its bundle would get the name \(name), as would that of \(other)", file: item.raw)
            }
            return item
        }
        guard FileStatus.exists(folder) else { return }
        guard (try? FileStatus.of(folder))?.kind == .folder else {
            throw BundleError(.outputUnusable, "is not a folder", file: folder)
        }
        for item in items where item.problem == nil { try item.output.examine() }
    }

    /// Creates a run from names that are all readable.
    public init(_ raws: [FilePath], into folder: FilePath, replaces: Bool = false, packer: Packer) throws(BundleError) {
        try self.init(raws.map { .success($0) }, into: folder, replaces: replaces, packer: packer)
    }

    private static func item(_ raw: Result<FilePath, BundleError>, _ folder: FilePath, replaces: Bool) -> Item {
        var path: FilePath = ""
        do {
            path = try raw.get()
            let place = folder.appending(try bundleName(path))
            return Item(raw: path, output: replaces ? .replacing(place) : .file(place), problem: nil)
        } catch {
            if path.isEmpty, let file = error.file { path = FilePath(file) }
            return Item(raw: path, output: .file(""), problem: error)
        }
    }

    private static func bundleName(_ raw: FilePath) throws(BundleError) -> FilePath.Component {
        guard let name = raw.name ?? raw.resolved.name else {
            throw BundleError(.rawCapture, "has no name, so its bundle cannot be named after it", file: raw)
        }
        let bundle = name.adding(".bundle")
        guard bundle.bytes.count <= FilePath.nameLimit else {
            throw BundleError(
                .rawCapture, "its bundle's name would be longer than \(FilePath.nameLimit) bytes", file: raw)
        }
        return bundle
    }

    /// Packs all captures. The counters are reserved in one step, and each capture uses the one of its position.
    ///
    /// - Parameters:
    ///   - threads: The number of captures that are packed at the same time; nil means one for each processor.
    ///   - stopsAtFailure: Whether the first capture that cannot be packed ends the run. Later captures then get no
    ///     bundle.
    ///   - deliver: Receives the result of each capture, in their order, on this thread.
    /// - Throws: The errors of `DeviceKeyFile` before anything is packed, and `output.unusable` if the folder cannot be
    ///   created. A failure of a single capture is its result.
    public func pack(
        threads: Int? = nil, options: RawCaptureOptions = RawCaptureOptions(), stopsAtFailure: Bool = false,
        deliver: (Item, Result<Packer.Packed, BundleError>) throws(BundleError) -> Void
    ) throws(BundleError) {
        guard !items.isEmpty else { return }
        let key = packer.key
        let device = try key.load(packer.passphrase)
        let secret = try key.saltSecret(for: device)
        let made = try MadeFolder(folder)
        defer { made.removeIfEmpty() }
        let first = try key.reserveCounters(items.count, for: device)
        let queue = Mutex(items.indices.makeIterator())
        // Each bundle that waits for its name is an open file.
        let openFiles = ProcessLimits.raiseOpenFiles()
        let threads = max(1, min(threads ?? Thread.processors, openFiles / 8))
        var group = CommitGroup(
            folder: made.handle, size: max(1, min(32, openFiles / 4)), stopsAtFailure: stopsAtFailure)
        try OrderedWork.run(
            threads: threads, window: threads + min(8, openFiles / 8), next: { queue.withLock { $0.next() } },
            work: { index in
                Self.result { () throws(BundleError) in
                    let item = items[index]
                    if let problem = item.problem { throw problem }
                    let plan = try BundlePlan(
                        RawCaptureReader.read(item.raw, options), device: device.point, secret: secret)
                    let file = try FinishedFile(item.output, in: made.handle)
                    let packed = try plan.sign(device, counter: first + UInt32(index), writing: file)
                    return Written(packed: packed, file: file)
                }
            },
            deliver: { written throws(BundleError) in
                group.add(written)
                return try group.isFull ? deliverAll(&group, deliver) : true
            })
        _ = try deliverAll(&group, deliver)
    }

    /// Commits and delivers the waiting bundles; false if the run must end here.
    private func deliverAll(
        _ group: inout CommitGroup, _ deliver: (Item, Result<Packer.Packed, BundleError>) throws(BundleError) -> Void
    ) throws(BundleError) -> Bool {
        for (index, result) in group.commit() { try deliver(items[index], result) }
        return !group.isStopped
    }

    private static func result<Value>(
        _ body: () throws(BundleError) -> Value
    ) -> Result<Value, BundleError> {
        do { return .success(try body()) } catch { return .failure(error) }
    }
}

/// The folder for the bundles, which is created if it is missing.
private struct MadeFolder {
    let handle: FolderHandle
    private let made: [FilePath]

    init(_ path: FilePath) throws(BundleError) {
        do {
            made = try DirectoryHandle.create(path, mode: 0o777)
            handle = try FolderHandle(path)
        } catch {
            if error.isNoFolder { throw BundleError(.outputUnusable, "is not a folder", file: path) }
            throw .writing(path, error)
        }
    }

    func removeIfEmpty() { DirectoryHandle.removeEmpty(made) }
}

/// A bundle that is complete but has no name yet.
private struct Written: Sendable {
    let packed: Packer.Packed
    let file: FinishedFile
}

/// Bundles that get their names together, since each wait for the disk takes longer than packing.
private struct CommitGroup {
    private let folder: FolderHandle
    private let size: Int
    private let stopsAtFailure: Bool
    private var waiting: [Result<Written, BundleError>] = []
    private var delivered = 0
    private(set) var isStopped = false

    init(folder: FolderHandle, size: Int, stopsAtFailure: Bool) {
        self.folder = folder
        self.size = size
        self.stopsAtFailure = stopsAtFailure
    }

    var isFull: Bool {
        if stopsAtFailure, case .failure = waiting.last { return true }
        return waiting.count >= size
    }

    mutating func add(_ written: Result<Written, BundleError>) { waiting.append(written) }

    /// Commits the waiting bundles and returns each result with its position in the run. If the run stops, the first
    /// failure is the last result.
    mutating func commit() -> [(Int, Result<Packer.Packed, BundleError>)] {
        guard !isStopped else { return [] }
        let files = waiting.compactMap { try? $0.get().file }
        var outcomes = FinishedFile.commit(files, in: folder, stopsAtFailure: stopsAtFailure)[...]
        var results: [(Int, Result<Packer.Packed, BundleError>)] = []
        for (offset, written) in waiting.enumerated() where !isStopped {
            let result = written.flatMap { written -> Result<Packer.Packed, BundleError> in
                if let failure = outcomes.popFirst() ?? nil { return .failure(failure) }
                return .success(written.packed)
            }
            results.append((delivered + offset, result))
            if case .failure = result { isStopped = stopsAtFailure }
        }
        delivered += waiting.count
        waiting = []
        return results
    }
}
