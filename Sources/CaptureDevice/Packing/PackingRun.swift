public import CaptureBundle
import CaptureNative
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
        /// How to read the capture when its turn comes, or why it cannot be packed. The error is boxed, since each item
        /// would have room for it otherwise.
        let reading: Result<Reading, any Error>

        package init(
            raw: FilePath, frame: String?, output: OutputPlace, reading: Result<Reading, any Error>
        ) {
            (self.raw, self.frame, self.output, self.reading) = (raw, frame, output, reading)
        }

        fileprivate var isReadable: Bool { if case .success = reading { true } else { false } }
    }

    package typealias Reading = @Sendable () throws -> RawCapture

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
        // An output can only be a RAW whose name ends as that of a bundle.
        let inputs = packer.key.files + Set(items.map(\.raw)).filter { $0.extension == "bundle" }
        for item in items where item.isReadable {
            try item.output.refuse(inputs: inputs)
            try packer.key.examine(item.output, targets, isForLink: packer.isChained)
        }
    }

    private static func refuseClashes(_ items: [Item]) throws(BundleError) {
        var owners: [FilePath.Component: FilePath] = [:]
        for item in items where item.isReadable {
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
    /// - Throws: The errors of `DeviceKeyFile` before anything is packed, `output.unusable` if the folder cannot be
    ///   created, and the error that `deliver` throws, of which one of another type becomes `internal`. A failure of a
    ///   single capture is its result.
    public func pack(
        threads: Int? = nil, stopsAtFailure: Bool = false, isDryRun: Bool = false,
        onRemark: (Remark) -> Void = { _ in },
        deliver: (Item, Result<Packer.Packed, BundleError>) throws -> Void
    ) throws(BundleError) {
        guard !items.isEmpty else { return }
        let key = packer.key
        let device = try key.load(packer.passphrase)
        let groups = CaptureGroups(
            items: items, device: device.point, secret: try key.saltSecret(for: device), threads: threads,
            stopsAtFailure: stopsAtFailure)
        var end = packer.isChained ? try key.chainEnd(for: device) : nil
        if let end { _ = try key.link(after: end) }
        if end == nil, let remark = try key.unlinkedRemark(for: device) { onRemark(remark) }
        try native {
            if isDryRun {
                let targets = try key.chainTargets()
                return try groups.run(
                    of: 1, prepare: { ($0, items[$1].output) },
                    pack: { captures in
                        CaptureGroups.Outcome(
                            results: captures.map { packer.rehearse($0, at: $1, targets, after: &end) })
                    }, deliver: deliver)
            }
            let (made, handle) = try native({
                $0.isNoFolder
                    ? BundleError(.outputUnusable, "is not a folder", file: folder) : .writing(folder, $0)
            }) { (try Folders.create(folder, mode: 0o777), try FolderHandle(folder)) }
            defer { Folders.removeEmpty(made) }
            if packer.isChained {
                let packing = ChainPacking(key: key, device: device, places: items.map(\.output))
                return try groups.run(
                    prepare: { ChainPacking.Capture(plan: $0, place: items[$1].output) }, memory: \.plan.memory,
                    pack: { try packing.pack($0, in: handle, stopsAtFailure: stopsAtFailure, onRemark: onRemark) },
                    deliver: deliver)
            }
            let first = try key.reserveCounters(items.count, for: device)
            try groups.run(
                prepare: { plan, index in
                    let file = try FinishedFile(items[index].output, in: handle)
                    let counter = first + UInt32(index)
                    let assertion = try plan.write(device, counter: counter, to: file.file.handle, name: file.name)
                    return (try plan.packed(counter: counter, assertion: assertion.count, body: nil), file)
                },
                pack: { written in
                    let failures = AtomicFile.commit(written.map(\.1.naming), stopsAtFailure: stopsAtFailure)
                    return CaptureGroups.Outcome(
                        results: zip(written, failures).map { written, failure in
                            failure.map { .failure(.writing(written.1.name, $0)) } ?? .success(written.0)
                        })
                }, deliver: deliver)
        }
    }
}
