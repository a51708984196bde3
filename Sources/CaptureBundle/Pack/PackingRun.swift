import CaptureNative
import Synchronization
public import SystemPackage

/// Packs many raw captures with one key: by several threads, told in the order of the captures.
///
/// ```swift
/// let run = try PackingRun(rawFolders, into: "bundles", packer: packer)
/// try run.pack { item, result in print(item.raw, result) }
/// ```
public struct PackingRun: Sendable {
    /// One capture and its place.
    public struct Item: Sendable {
        /// The raw folder.
        public let raw: FilePath
        public let output: OutputPlace
        /// What keeps it from being packed, known before any work.
        let problem: BundleError?
    }

    public let items: [Item]
    private let folder: FilePath
    private let packer: Packer

    /// Names the bundles, `<raw name>.bundle`, and looks for clashes.
    ///
    /// - Parameters:
    ///   - raws: a failure is a name that could not be read, and what comes of that capture.
    ///   - replaces: whether bundles that are there are replaced.
    /// - Throws: `raw.clash` when two captures have the same name; `output.exists` for the first bundle that is there
    ///   already; `output.unusable` when the folder is none. Nothing was done then.
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
                throw BundleError(.rawClash, "\(name) would be the bundle of \(other) too", file: item.raw)
            }
            return item
        }
        guard FileStatus.exists(folder) else { return }
        guard (try? FileStatus.of(folder))?.kind == .folder else {
            throw BundleError(.outputUnusable, "is no folder", file: folder)
        }
        for item in items where item.problem == nil { try item.output.examine() }
    }

    /// Names that are known to be names.
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
            throw BundleError(.rawCapture, "has no name to give the bundle", file: raw)
        }
        let bundle = name.adding(".bundle")
        guard bundle.bytes.count <= FilePath.nameLimit else {
            throw BundleError(
                .rawCapture, "its bundle's name would be longer than \(FilePath.nameLimit) bytes", file: raw)
        }
        return bundle
    }

    /// Packs them all. The counters are taken at once, and each capture has the one of its place.
    ///
    /// - Parameters:
    ///   - threads: how many captures are packed at a time; nil for as many as there are processors.
    ///   - stopsAtFailure: whether the first capture that cannot be packed ends the run; those after it are not there then.
    ///   - deliver: gets the result for each capture, in their order, on this thread.
    /// - Throws: those of `DeviceKeyFile`, before anything is packed, and `output.unusable` when the folder cannot be made.
    ///   What is wrong with one capture is its result.
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

    /// False when the run is to end here.
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

/// The folder for the bundles, made where it is missing.
private struct MadeFolder {
    let handle: FolderHandle
    private let made: [FilePath]

    init(_ path: FilePath) throws(BundleError) {
        do {
            made = try DirectoryHandle.create(path, mode: 0o777)
            handle = try FolderHandle(path)
        } catch {
            if error.isNoFolder { throw BundleError(.outputUnusable, "is no folder", file: path) }
            throw .writing(path, error)
        }
    }

    func removeIfEmpty() { DirectoryHandle.removeEmpty(made) }
}

/// A bundle that is whole and has no name yet.
private struct Written: Sendable {
    let packed: Packer.Packed
    let file: FinishedFile
}

/// Bundles that get their names together, since each wait for the disk costs more than packing.
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

    /// The result for each, with its place in the run; where the run stops, only up to the first failure.
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
