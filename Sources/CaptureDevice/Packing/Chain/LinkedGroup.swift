import CaptureBundle
import CaptureNative
import SystemPackage

/// Bundles that get links one after the other and are written together, since each wait for the disk takes longer than
/// packing.
struct LinkedGroup {
    private let device: DeviceKey
    private let folder: FolderHandle
    /// One for each capture, in order; nil until the bundle is signed.
    private var outcomes: [Result<Packer.Packed, BundleError>?] = []
    private var files: [(index: Int, file: LinkedFile)] = []

    init(_ device: DeviceKey, in folder: FolderHandle) {
        self.device = device
        self.folder = folder
    }

    var isEmpty: Bool { files.isEmpty }
    var results: [Result<Packer.Packed, BundleError>] { outcomes.compactMap(\.self) }

    /// Adds a capture. If its bundle with its link exists already, it gets no other link. Otherwise its bundle is written
    /// without its signature, and its link is added to the state. A capture that fails gets no link.
    ///
    /// - Parameter makeBody: Receives the plan and the assertion of a bundle that exists already.
    /// - Returns: Whether the capture has a bundle.
    /// - Throws: `key.counter` if no link or no counter is left.
    mutating func add(
        _ capture: ChainPacking.Capture, to state: inout DeviceKeyState, of key: DeviceKeyFile,
        _ makeBody: (BundlePlan, [UInt8]) throws -> Void
    ) throws(BundleError) -> Bool {
        do {
            let targets = ChainTargets(state)
            if let packed = try targets.packed(capture.plan, at: capture.place) {
                try native { try makeBody(packed.plan, packed.assertion) }
                outcomes.append(.success(try packed.result(counter: packed.counter)))
                return true
            }
            try targets.examine(capture.place, isForLink: true)
        } catch {
            outcomes.append(.failure(error))
            return false
        }
        var next = state
        let (link, counter) = try key.reserveLink(&next)
        do {
            let file = try LinkedFile(capture.plan, link, counter: counter, to: capture.place, in: folder)
            next.chain.pending.append(file.pending)
            files.append((outcomes.count, file))
            outcomes.append(nil)
        } catch {
            outcomes.append(.failure(error))
            return false
        }
        state = next
        return true
    }

    /// Syncs the unsigned bundles and gives them their hidden names. If one of them fails, it and the later ones get no
    /// link, since each link names the manifest before it.
    mutating func publishHidden(_ state: inout DeviceKeyState) throws(BundleError) {
        guard !files.isEmpty else { return }
        for (_, file) in files { file.startWriting() }
        for (offset, (index, file)) in files.enumerated() {
            do {
                try file.publishHidden()
            } catch {
                outcomes[index] = .failure(error)
                drop(from: offset, &state)
                break
            }
        }
        try native({ .writing(files.first?.file.name ?? "", $0) }) {
            try folder.synchronize(naming: files.map(\.file.handle))
        }
    }

    private mutating func drop(from offset: Int, _ state: inout DeviceKeyState) {
        for (index, file) in files[offset...] where outcomes[index] == nil {
            let message = "was not packed, because the bundle before it in the chain could not be written"
            outcomes[index] = .failure(BundleError(.inputOutput, message, file: file.name))
        }
        state.chain.pending.removeLast(files.count - offset)
        files.removeSubrange(offset...)
    }

    /// Signs the bundles, whose links are on the disk now.
    ///
    /// - Throws: The error of `makeBody`; no signature is in a file then.
    mutating func sign(_ makeBody: (BundlePlan, [UInt8]) throws -> Void) throws {
        var assertions: [[UInt8]] = []
        for (_, file) in files {
            let assertion = try file.plan.assertion(device, counter: file.pending.counter)
            try makeBody(file.plan, assertion)
            assertions.append(assertion)
        }
        for (entry, assertion) in zip(files, assertions) {
            // If the file never gets its own name, it stays under its hidden one: from now on the key's state names it.
            entry.file.finished.file.keep()
            let packed = try entry.file.plan.packed(
                counter: entry.file.pending.counter, assertion: assertion.count, body: nil)
            outcomes[entry.index] = .success(packed)
            attempt(entry) { file in try file.write(assertion: assertion) }
            entry.file.startWriting()
        }
        for entry in files { attempt(entry) { file in try file.writing { try $0.handle.synchronize() } } }
    }

    /// Gives the bundles their names.
    mutating func publish() {
        let sound = files.filter { (try? outcomes[$0.index]?.get()) != nil }
        for (entry, error) in zip(sound, AtomicFile.commit(sound.map(\.file.finished.naming), areSynced: true)) {
            guard let error else { continue }
            attempt(entry) { file in throw file.publishingFailure(error) }
        }
    }

    /// Removes the pending links up to the first failure from the state. The later ones stay, because links are given
    /// out for good in order.
    func close(_ state: inout DeviceKeyState) {
        let done = files.prefix { (try? outcomes[$0.index]?.get()) != nil }
        guard let last = done.last else { return }
        state.chain.last = last.file.pending.end
        state.chain.pending.removeFirst(done.count)
    }

    /// Does a step for a bundle that has not failed yet. Its link is given out already, whether the step fails or not.
    private mutating func attempt(
        _ entry: (index: Int, file: LinkedFile), _ step: (LinkedFile) throws -> Void
    ) {
        guard case .success = outcomes[entry.index] else { return }
        do {
            try native { try step(entry.file) }
        } catch {
            let seq = entry.file.pending.link.seq
            outcomes[entry.index] = .failure(
                error.code == .outputExists ? error : error.with(.linkPending, ["\(seq)"]))
        }
    }
}

/// The bundle of a link while it is written: complete but unsigned, then signed, then under its name
/// (Spec/capture-bundle.md section 9.3).
struct LinkedFile {
    let plan: BundlePlan
    let pending: PendingLink
    let finished: FinishedFile
    /// The longest path that Linux accepts in one call, in bytes.
    private static let pathLimit = 4095

    var name: String { finished.name }

    /// Writes the bundle with zero bytes in place of the assertion. The file has no name yet, or a hidden one.
    ///
    /// - Parameter folder: The folder that contains `place`.
    init(
        _ plan: BundlePlan, _ link: Manifest.ChainLink, counter: UInt32, to place: OutputPlace, in folder: FolderHandle
    ) throws(BundleError) {
        finished = try FinishedFile(place, in: folder)
        self.plan = try plan.linked(link)
        guard let target = place.wholePath else {
            throw BundleError(.outputUnusable, "is not a file name", file: place.name)
        }
        let temporary = target.removingLastComponent().appending(finished.file.hiddenName)
        guard max(target.byteCount, temporary.byteCount) <= Self.pathLimit else {
            throw BundleError(
                .outputUnusable, "its absolute path is longer than \(Self.pathLimit) bytes", file: place.name)
        }
        pending = PendingLink(
            link, counter: counter, manifest: try Digest.of(self.plan.manifestBytes),
            files: PendingLink.Files(temporary: temporary, target: target))
        try self.plan.write(assertion: nil, to: finished.file.handle, name: finished.name)
    }

    var handle: FileHandle { finished.file.handle }

    func startWriting() { handle.startWriting(from: 0, count: 0) }

    /// Syncs the unsigned bundle and gives it its hidden name.
    func publishHidden() throws(BundleError) {
        try writing { file in
            try file.handle.synchronize()
            try file.publishHidden()
        }
    }

    /// Writes the assertion into its place.
    func write(assertion: [UInt8]) throws(BundleError) {
        try AssertionPlace.write(
            assertion, manifestSize: plan.manifestBytes.count, to: finished.file.handle, name: name)
    }

    /// The error for a file that did not get its name.
    func publishingFailure(_ error: NativeError) -> BundleError {
        guard error.isExisting, let files = pending.files else { return .writing(name, error) }
        return BundleError(
            .outputExists,
            "was made by another program meanwhile; the bundle with link \(pending.link.seq) is in \(files.temporary)",
            file: name, cause: .linkNameTaken)
    }

    func writing(_ body: (AtomicFile) throws -> Void) throws(BundleError) {
        try native({ .writing(name, $0) }) { try body(finished.file) }
    }
}

extension OutputPlace {
    /// The absolute path, with symbolic links in the folder resolved; nil for standard output.
    var wholePath: FilePath? {
        guard let path, let name = path.name else { return nil }
        return path.folder.resolved.absolute.appending(name)
    }
}

extension FilePath {
    fileprivate var byteCount: Int { components.reduce(0) { $0 + 1 + $1.bytes.count } }
}
