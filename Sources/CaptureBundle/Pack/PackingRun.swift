import CaptureNative
import Synchronization

/// Packs many raw captures with one key: by several threads, told in the order of the captures.
///
/// ```swift
/// let run = try PackingRun(rawFolders, into: "bundles", packer: packer)
/// try run.pack { raw, result in print(raw, result); return true }
/// ```
public struct PackingRun: Sendable {
    /// One capture and its place.
    public struct Item: Sendable {
        public let raw: String
        public let output: OutputPlace
    }

    public let items: [Item]
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
            return Item(raw: raw, output: replaces ? .replacing(path) : .file(path))
        }
        try Self.make(folder)
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

    private static func make(_ folder: String) throws(BundleError) {
        do {
            try DirectoryHandle.create(folder, mode: 0o777)
            _ = try FolderHandle(folder)
        } catch {
            if error.isNoFolder { throw BundleError(.outputUnusable, "is no folder", file: folder) }
            throw .writing(folder, error)
        }
    }

    /// Packs them all. The counters are taken at once, and each capture has the one of its place.
    ///
    /// - Parameters:
    ///   - threads: how many captures are packed at a time; nil for as many as there are processors.
    ///   - deliver: gets what came of each capture, in their order, on this thread. False ends the run; captures that are
    ///     being packed then are finished.
    /// - Throws: those of `DeviceKeyFile`, before anything is packed. What is wrong with one capture is its result.
    public func pack(
        threads: Int? = nil, options: RawCaptureOptions = RawCaptureOptions(),
        deliver: (Item, Result<Packer.Packed, BundleError>) throws(BundleError) -> Bool
    ) throws(BundleError) {
        guard !items.isEmpty else { return }
        let key = packer.key
        let device = try key.load(packer.passphrase)
        let secret = try key.saltSecret(for: device)
        let first = try key.reserveCounters(items.count, for: device)
        let queue = Mutex(items.indices.makeIterator())
        var delivered = 0
        try OrderedWork.run(
            threads: threads ?? Thread.processors, next: { queue.withLock { $0.next() } },
            work: { index in
                Self.result { () throws(BundleError) in
                    let plan = try BundlePlan(
                        RawCaptureReader.read(items[index].raw, options), device: device.point, secret: secret)
                    let target = try OutputTarget(items[index].output)
                    return try plan.sign(device, counter: first + UInt32(index), to: target, body: nil)
                }
            },
            deliver: { result throws(BundleError) in
                delivered += 1
                return try deliver(items[delivered - 1], result)
            })
    }

    private static func result<Value>(
        _ body: () throws(BundleError) -> Value
    ) -> Result<Value, BundleError> {
        do { return .success(try body()) } catch { return .failure(error) }
    }
}
