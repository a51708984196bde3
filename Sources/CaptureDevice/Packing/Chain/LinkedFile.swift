import CaptureBundle
import CaptureNative
import SystemPackage

/// The bundle of a link while it is written: complete but unsigned, then signed, then under its name
/// (Spec/capture-bundle.md section 9.3).
struct LinkedFile {
    let plan: BundlePlan
    let pending: PendingLink
    private let finished: FinishedFile
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
    var naming: AtomicFile.Naming { finished.naming }

    func startWriting() { handle.startWriting(from: 0, count: 0) }

    /// Syncs the unsigned bundle and gives it its hidden name.
    func publishHidden() throws(BundleError) {
        try writing { file in
            try file.handle.synchronize()
            try file.publishHidden()
        }
    }

    /// Leaves the file under its hidden name if it never gets its own: from now on the key's state names it.
    func keep() { finished.file.keep() }

    /// Writes the assertion into its place.
    func write(assertion: [UInt8]) throws(BundleError) {
        try AssertionPlace.write(
            assertion, manifestSize: plan.manifestBytes.count, to: finished.file.handle, name: name)
    }

    func synchronize() throws(BundleError) {
        try writing { file in try file.handle.synchronize() }
    }

    /// The error for a file that did not get its name.
    func publishingFailure(_ error: NativeError) -> BundleError {
        guard error.isExisting, let files = pending.files else { return .writing(name, error) }
        return BundleError(
            .outputExists,
            "was made by another program meanwhile; the bundle with link \(pending.link.seq) is in \(files.temporary)",
            file: name, cause: .linkNameTaken)
    }

    private func writing(_ body: (AtomicFile) throws -> Void) throws(BundleError) {
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
