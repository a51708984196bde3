import CaptureBundle
import CaptureNative
import SystemPackage

/// Finishes the links that an earlier run left pending, or gives them up (Spec/capture-bundle.md section 9.3).
struct PendingSettlement {
    let device: DeviceKey
    /// All places to which the run writes bundles.
    let places: [OutputPlace]
    private(set) var remarks: [Remark] = []

    /// Removes all pending links from the state, which the caller saves.
    mutating func settle(_ state: inout DeviceKeyState) throws {
        guard let last = state.chain.pending.last else { return }
        for pending in state.chain.pending {
            if try !finish(pending, state) { remarks.append(Self.gap(pending)) }
        }
        state.chain.last = last.end
        state.chain.pending = []
    }

    /// Says that a link was given out and that its bundle is missing.
    private static func gap(_ pending: PendingLink) -> Remark {
        let seq = pending.link.seq
        let (file, message) =
            if let files = pending.files {
                (
                    files.target.string,
                    "link \(seq) was given out, but its bundle is not at this path; "
                        + "if the bundle does not exist elsewhere either, the chain has a gap at link \(seq)"
                )
            } else {
                (
                    "standard output",
                    "link \(seq) was given out, and its bundle was not complete yet; "
                        + "if nobody has the bundle, the chain has a gap there"
                )
            }
        return Remark(weight: .warning, code: "chain.gap", file: file, message: message)
    }

    /// Gives the bundle of a link its name.
    ///
    /// - Returns: Whether the bundle exists.
    /// - Throws: `output.exists` if another file has the target's name. The bundle keeps its hidden name, and the link
    ///   stays pending: otherwise its capture could get a second link under that name.
    private mutating func finish(_ pending: PendingLink, _ state: DeviceKeyState) throws -> Bool {
        guard let files = pending.files else { return false }
        let folder = try open(files.target.folder, of: pending)
        let temporary = try PendingBundle(files.temporary, of: pending, device: device.point, canChange: true)
        let there = try PendingBundle(files.target, of: pending, device: device.point)
        guard let name = files.target.name, let hidden = files.temporary.name else { return false }
        let isDone = try native({ .writing(files.target, $0) }) {
            // A copy that is cut short or lacks entries, or a link to the temporary file, does not replace that file.
            let isPlain = try folder.status(of: name)?.kind == .file
            let isOwn = temporary == nil || (isPlain && there?.isWhole == true)
            guard there?.assertion != nil && isOwn else { return false }
            if temporary != nil { _ = try folder.removeFile(hidden) }
            try folder.synchronize()
            return true
        }
        if isDone { return true }
        guard let temporary, temporary.isWhole else { return false }
        try temporary.sign(device, counter: pending.counter)
        let replaces = try mayReplace(files.target, state)
        do throws(NativeError) {
            if replaces {
                try folder.rename(hidden, to: folder, as: name)
            } else {
                try folder.move(hidden, to: folder, as: name)
            }
            try folder.synchronize(renamed: name)
        } catch {
            guard error.isExisting else { throw BundleError.writing(files.target, error) }
            throw BundleError(
                .outputExists,
                "another file has the name of the bundle with link \(pending.link.seq), which is complete in "
                    + "\(files.temporary); until that name is free, no capture gets a link", file: files.target,
                cause: .pendingNameTaken)
        }
        remarks.append(
            Remark(
                weight: .note, code: "chain.finished", file: files.target.string,
                message: "finished the bundle with link \(pending.link.seq), "
                    + "which an interrupted run had left incomplete"))
        return true
    }

    /// Whether the user asked to replace the file at a path, and that file is certainly not a link of the chain.
    private func mayReplace(_ target: FilePath, _ state: DeviceKeyState) throws -> Bool {
        let isNamed = places.contains { place in
            guard case .replacing(let path) = place, path.name == target.name else { return false }
            return place.wholePath == target
        }
        guard isNamed else { return false }
        return try ChainTargets(state).isOtherBundle(at: target)
    }

    /// Opens the folder of a link's files. A missing folder does not give the link up, since its disk may not be mounted.
    private func open(_ folder: FilePath, of pending: PendingLink) throws -> FolderHandle {
        try native({ error in
            guard error.isMissing else { return .writing(folder, error) }
            return BundleError(
                .keyState, "the folder of link \(pending.link.seq) is missing", file: folder,
                cause: .pendingFolderMissing)
        }) { try FolderHandle(folder) }
    }
}

/// A file that holds the bundle of a pending link, maybe without its signature (Spec/capture-bundle.md section 9.3).
struct PendingBundle {
    /// The bytes of assertion.cbor; nil if the signature is missing or invalid.
    let assertion: [UInt8]?
    /// Whether the file has the length of the whole bundle.
    let isWhole: Bool
    private let handle: FileHandle
    private let path: FilePath
    private let manifest: [UInt8]

    /// Opens the file; nil if it is missing, is not a regular file, or does not begin with the manifest of the link.
    ///
    /// - Parameter canChange: Whether the file is opened so that `sign` can write to it.
    /// - Throws: `input.unreadable` or `io.failed` if the file cannot be read. The link is not lost then.
    init?(
        _ path: FilePath, of pending: PendingLink, device: DevicePoint, canChange: Bool = false
    ) throws {
        guard let handle = try Self.open(path, canChange: canChange) else { return nil }
        let status = try native({ .reading(path, $0) }) { try handle.status() }
        guard status.kind == .file else { return nil }
        var bytes: [UInt8] = []
        let reader = BundleReader(BundleSource(handle: handle, name: path.string))
        let head: BundleReader.Head?
        do {
            head = try reader.readHead { bytes = $0 }
        } catch {
            // The bytes are not the head of a bundle. Other errors say nothing about the bytes.
            guard error.verdict != nil else { throw error }
            head = nil
        }
        guard try Digest.of(bytes) == pending.manifest, let manifest = try? Manifest.decode(bytes) else { return nil }
        (self.handle, self.path, self.manifest) = (handle, path, bytes)
        isWhole = status.size == BundleWriter.byteCount(manifest, manifestSize: bytes.count, assertion: 1)
        let read = head.flatMap { try? Assertion(decoding: $0.assertion) }
        assertion = try read?.isValid(for: bytes, of: device) == true ? head?.assertion : nil
    }

    private static func open(_ path: FilePath, canChange: Bool) throws -> FileHandle? {
        try native({ .reading(path, $0) }) {
            try allowing({ $0.isMissing || $0.isLoop || $0.isFolder }) {
                try canChange
                    ? FileHandle.open(path, FileHandle.existingFileToChange) : FileHandle.readingPlainFile(path)
            }
        }
    }

    /// Makes the signature if it is missing, and syncs the file.
    func sign(_ device: DeviceKey, counter: UInt32) throws {
        let made = try assertion ?? Assertion(signing: manifest, key: device.key, counter: counter).encode()
        try AssertionPlace.write(made, manifestSize: manifest.count, to: handle, name: path.string)
        try native({ .writing(path, $0) }) { try handle.synchronize() }
    }
}
