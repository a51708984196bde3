import CaptureNative
import Synchronization

/// Packs many raw captures with one key: by several threads, told in the order of the captures.
///
/// ```swift
/// let run = try PackingRun(rawFolders, into: "bundles", packer: packer)
/// try run.pack { item, result in print(item.raw, result) }
/// ```
public struct PackingRun: Sendable {
    /// One capture and its place.
    public struct Item: Sendable {
        public let raw: String
        public let output: OutputPlace
        let name: String
    }

    public let items: [Item]
    private let folder: FolderHandle
    private let packer: Packer

    /// Names the bundles, `<raw name>.bundle`, and looks for clashes.
    ///
    /// - Parameter replaces: whether bundles that are there are replaced.
    /// - Throws: `raw.clash` when two captures have the same name, or one has none; `output.exists` for the first bundle
    ///   that is there already; `output.unusable`. Nothing was done then.
    public init(
        _ raws: [String], into folder: String, replaces: Bool = false, packer: Packer
    ) throws(BundleError) {
        self.packer = packer
        var owners: [String: String] = [:]
        items = try raws.map { raw throws(BundleError) in
            let name = try Self.bundleName(raw)
            if let other = owners.updateValue(raw, forKey: name) {
                throw BundleError(.rawClash, "\(name) would be the bundle of \(other) too", file: raw)
            }
            let path = FilePath.join(folder, name)
            return Item(raw: raw, output: replaces ? .replacing(path) : .file(path), name: name)
        }
        self.folder = try Self.make(folder)
        for item in items { try item.output.examine() }
    }

    private static func bundleName(_ raw: String) throws(BundleError) -> String {
        var path = raw
        while path.hasSuffix("/") && path != "/" { path.removeLast() }
        var name = FilePath.name(of: path)
        if [".", "..", ""].contains(name) { name = FilePath.name(of: FilePath.resolved(path)) }
        guard !name.isEmpty, name != ".", name != ".." else {
            throw BundleError(.rawClash, "has no name that a bundle could have", file: raw)
        }
        return name + ".bundle"
    }

    private static func make(_ folder: String) throws(BundleError) -> FolderHandle {
        do {
            try DirectoryHandle.create(folder, mode: 0o777)
            return try FolderHandle(folder)
        } catch {
            if error.isNoFolder { throw BundleError(.outputUnusable, "is no folder", file: folder) }
            throw .writing(folder, error)
        }
    }

    /// Packs them all. The counters are taken at once, and each capture has the one of its place.
    ///
    /// - Parameters:
    ///   - threads: how many captures are packed at a time; nil for as many as there are processors.
    ///   - stopsAtFailure: whether the first capture that cannot be packed ends the run; those after it are not there then.
    ///   - deliver: gets what came of each capture, in their order, on this thread.
    /// - Throws: those of `DeviceKeyFile`, before anything is packed. What is wrong with one capture is its result.
    public func pack(
        threads: Int? = nil, options: RawCaptureOptions = RawCaptureOptions(), stopsAtFailure: Bool = false,
        deliver: (Item, Result<Packer.Packed, BundleError>) throws(BundleError) -> Void
    ) throws(BundleError) {
        guard !items.isEmpty else { return }
        let key = packer.key
        let device = try key.load(packer.passphrase)
        let secret = try key.saltSecret(for: device)
        let first = try key.reserveCounters(items.count, for: device)
        let queue = Mutex(items.indices.makeIterator())
        var group = CommitGroup(folder: folder)
        try OrderedWork.run(
            threads: threads ?? Thread.processors, next: { queue.withLock { $0.next() } },
            work: { index in
                Self.result { () throws(BundleError) in
                    let plan = try BundlePlan(
                        RawCaptureReader.read(items[index].raw, options), device: device.point, secret: secret)
                    let file = try FinishedFile(items[index].output, name: items[index].name, in: folder)
                    let packed = try plan.sign(device, counter: first + UInt32(index), writing: file)
                    return Written(packed: packed, file: file)
                }
            },
            deliver: { written throws(BundleError) in
                group.add(written)
                var isLast = false
                if case .failure = written { isLast = stopsAtFailure }
                if group.isFull || isLast { try deliverAll(&group, deliver) }
                return !isLast
            })
        try deliverAll(&group, deliver)
    }

    private func deliverAll(
        _ group: inout CommitGroup, _ deliver: (Item, Result<Packer.Packed, BundleError>) throws(BundleError) -> Void
    ) throws(BundleError) {
        for (index, result) in group.commit() { try deliver(items[index], result) }
    }

    private static func result<Value>(
        _ body: () throws(BundleError) -> Value
    ) -> Result<Value, BundleError> {
        do { return .success(try body()) } catch { return .failure(error) }
    }
}

/// A bundle that is whole and has no name yet.
private struct Written: Sendable {
    let packed: Packer.Packed
    let file: FinishedFile
}

/// Bundles that get their names together, since each wait for the disk costs more than packing.
private struct CommitGroup {
    private static let size = 32

    private let folder: FolderHandle
    private var waiting: [Result<Written, BundleError>] = []
    private var delivered = 0

    init(folder: FolderHandle) { self.folder = folder }

    var isFull: Bool { waiting.count >= Self.size }

    mutating func add(_ written: Result<Written, BundleError>) { waiting.append(written) }

    /// What came of each, with its place in the run.
    mutating func commit() -> [(Int, Result<Packer.Packed, BundleError>)] {
        let files = waiting.compactMap { try? $0.get().file }
        var failures = FinishedFile.commit(files, in: folder)[...]
        let results = waiting.enumerated().map { offset, written in
            let result = written.flatMap { written -> Result<Packer.Packed, BundleError> in
                if let failure = failures.popFirst() ?? nil { return .failure(failure) }
                return .success(written.packed)
            }
            return (delivered + offset, result)
        }
        delivered += waiting.count
        waiting = []
        return results
    }
}
