public import CaptureBundle
import CaptureNative
import Synchronization
public import SystemPackage

/// Packs many raw captures with one key on several threads, and reports the results in the order of the captures.
///
/// ```swift
/// let run = try PackingRun(raws, into: "bundles", packer: packer)
/// try run.pack { item, result in print(item.raw, result) }
/// ```
public struct PackingRun: Sendable {
    /// One capture and the place for its bundle.
    public struct Item: Sendable {
        /// The folder, archive or photo.
        public let raw: FilePath
        /// The app's number or name of the frame; nil if `raw` is a single capture.
        public let frame: String?
        public let output: OutputPlace
        /// How to read the capture when its turn comes, or why it cannot be packed.
        let reading: Result<Reading, BundleError>

        package init(
            raw: FilePath, frame: String?, output: OutputPlace, reading: Result<Reading, BundleError>
        ) {
            (self.raw, self.frame, self.output, self.reading) = (raw, frame, output, reading)
        }

        fileprivate var problem: BundleError? { if case .failure(let error) = reading { error } else { nil } }
    }

    package typealias Reading = @Sendable () throws(BundleError) -> RawCapture

    public let items: [Item]
    /// The remarks about each RAW as a whole.
    public let remarks: [Remark]
    let folder: FilePath
    let packer: Packer

    /// Creates a run for captures that are read later.
    ///
    /// - Throws: `raw.clash` if two captures have the same name, `output.exists` for the first bundle that exists already,
    ///   and `output.unusable` if `folder` is not a folder. Nothing is written then. With a chain, an existing bundle with
    ///   a link of that chain is not refused here, because it may be that of the capture.
    package init(
        _ items: [Item], remarks: [Remark], into folder: FilePath, packer: Packer
    ) throws(BundleError) {
        (self.packer, self.folder, self.items, self.remarks) = (packer, folder, items, remarks)
        try Self.refuseClashes(items)
        guard FileStatus.exists(folder) else { return }
        guard (try? FileStatus.of(folder))?.kind == .folder else {
            throw BundleError(.outputUnusable, "is not a folder", file: folder)
        }
        try packer.key.locate(packer.passphrase)
        let targets = try packer.key.chainTargets()
        for item in items where item.problem == nil {
            try packer.key.examine(item.output, targets, isForLink: packer.isChained)
        }
    }

    private static func refuseClashes(_ items: [Item]) throws(BundleError) {
        var owners: [FilePath.Component: FilePath] = [:]
        for item in items where item.problem == nil {
            guard let name = item.output.path?.name, let other = owners.updateValue(item.raw, forKey: name) else {
                continue
            }
            throw BundleError(
                .rawClash, "its bundle would get the name \(name), which the bundle of \(other) gets too",
                file: item.raw)
        }
    }

    /// Packs all captures. The counters are reserved in one step, and each capture uses the one of its position. With a
    /// chain, each group of captures gets its counters and links together.
    ///
    /// - Parameters:
    ///   - threads: The number of captures that are packed at the same time; nil means one for each processor.
    ///   - stopsAtFailure: Whether the first capture that cannot be packed ends the run. Later captures then get no
    ///     bundle.
    ///   - isDryRun: Whether everything is checked, and nothing is signed or written.
    ///   - onRemark: Receives remarks about links of the chain that an earlier run left pending, and about bundles
    ///     without a link by a key that makes a chain.
    ///   - deliver: Receives the result of each capture, in their order, on this thread.
    /// - Throws: The errors of `DeviceKeyFile` before anything is packed, and `output.unusable` if the folder cannot be
    ///   created. A failure of a single capture is its result.
    public func pack(
        threads: Int? = nil, stopsAtFailure: Bool = false, isDryRun: Bool = false,
        onRemark: (Remark) -> Void = { _ in },
        deliver: (Item, Result<Packer.Packed, BundleError>) throws(BundleError) -> Void
    ) throws(BundleError) {
        guard !items.isEmpty else { return }
        if isDryRun {
            try tryOut(threads: threads, stopsAtFailure: stopsAtFailure, onRemark: onRemark, deliver: deliver)
            return
        }
        if packer.isChained {
            try packChained(threads: threads, stopsAtFailure: stopsAtFailure, onRemark: onRemark, deliver: deliver)
            return
        }
        let key = packer.key
        let device = try key.load(packer.passphrase)
        let secret = try key.saltSecret(for: device)
        if let remark = try key.unlinkedRemark(for: device) { onRemark(remark) }
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
                    let plan = try plan(index, device, secret)
                    let file = try FinishedFile(items[index].output, in: made.handle)
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

    /// Reads a capture.
    func plan(_ index: Int, _ device: DeviceKey, _ secret: [UInt8]) throws(BundleError) -> BundlePlan {
        let capture = try items[index].reading.get()()
        return try BundlePlan(capture, device: device.point, secret: secret)
    }

    /// Commits and delivers the waiting bundles; false if the run must end here.
    private func deliverAll(
        _ group: inout CommitGroup, _ deliver: (Item, Result<Packer.Packed, BundleError>) throws(BundleError) -> Void
    ) throws(BundleError) -> Bool {
        for (index, result) in group.commit() { try deliver(items[index], result) }
        return !group.isStopped
    }

    static func result<Value>(
        _ body: () throws(BundleError) -> Value
    ) -> Result<Value, BundleError> {
        do { return .success(try body()) } catch { return .failure(error) }
    }
}

/// The folder for the bundles, which is created if it is missing.
struct MadeFolder {
    let handle: FolderHandle
    private let made: [FilePath]

    init(_ path: FilePath) throws(BundleError) {
        do {
            made = try Folders.create(path, mode: 0o777)
            handle = try FolderHandle(path)
        } catch {
            if error.isNoFolder { throw BundleError(.outputUnusable, "is not a folder", file: path) }
            throw .writing(path, error)
        }
    }

    func removeIfEmpty() { Folders.removeEmpty(made) }
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
