import CaptureNative
public import SystemPackage

extension BundleError.Code {
    /// A requested entry is not in the bundle.
    public static let entryAbsent = Self("entry.absent")
}

/// Extracts entries from a bundle. It releases no entry before the whole bundle is read, every hash matches and the
/// signature is valid. It does not check trust.
///
/// ```swift
/// let names = try Extractor(entries: ["photo.jpg"]).extract(BundleSource(path: "cap.bundle"), to: .folder("opened"))
/// ```
public struct Extractor: Sendable {
    /// The place to which entries are written.
    public enum Destination: Hashable, Sendable {
        /// A folder, which is created if it is missing. Each entry gets its path in it, and no symbolic links are
        /// followed below it.
        case folder(FilePath)
        /// A folder as above, in which existing files are replaced.
        case replacing(FilePath)
        /// Standard output, for a single entry.
        case standardOutput
    }

    private let entries: [String]
    private let asFloats: Bool

    /// - Parameters:
    ///   - entries: Paths or roles of payload entries, `depth.f32` for the uncompressed depth map, `manifest.json` or
    ///     `assertion.cbor`; an empty list means the whole payload.
    ///   - asFloats: Whether the depth map is written uncompressed, as `depth.f32`.
    public init(entries: [String] = [], asFloats: Bool = false) {
        // A role with one entry is that entry.
        self.entries = entries.map { (EntryPath.withRole($0) ?? EntryPath(asTyped: $0))?.description ?? $0 }
        self.asFloats = asFloats || entries.contains(EntryPath.floats)
    }

    /// Reads the bundle once, in constant memory.
    ///
    /// - Returns: The names of the files that were written.
    /// - Throws: The worst fault of a damaged bundle; `entry.absent`, `output.exists`, `output.unusable`,
    ///   `input.unreadable`, `io.failed`. Nothing is left behind then, except files that were complete before a disk
    ///   error.
    public func extract(_ source: BundleSource, to destination: Destination) throws(BundleError) -> [String] {
        let observer = ExtractionObserver(
            wanted: entries, asFloats: asFloats, source, destination: destination)
        do {
            let report = try Verifier.soundness.verify(BundleReader(source), observer: observer)
            try report.requireSound(source.name)
            return try observer.commit(withheld: Set(report.withheld))
        } catch {
            observer.abandon()
            throw error
        }
    }
}

/// Holds entries back while their bundle is verified.
private final class ExtractionObserver: BundleObserver {
    private let wanted: [String]
    private let asFloats: Bool
    /// The name of the bundle in messages.
    private let name: String
    /// The status of the bundle's file, which no entry may replace; nil if it is unknown.
    private let input: FileStatus?
    private let destination: Extractor.Destination
    private var folder: ExtractionFolder?
    private var held: [(name: String, target: OutputTarget)] = []
    private var listed: [EntryPath] = []
    private var found: [String] = []
    private var depthSize: DepthSize?
    private var current: OutputTarget?
    private var inflating: DepthMapReader?

    init(wanted: [String], asFloats: Bool, _ source: BundleSource, destination: Extractor.Destination) {
        (self.wanted, self.asFloats, self.destination) = (wanted, asFloats, destination)
        (name, input) = (source.name, source.status)
    }

    private func wants(_ path: String) -> Bool {
        guard let entry = EntryPath(path) else { return wanted.contains(path) }
        return wanted.isEmpty || wanted.contains(path) || entry.role == .source && wanted.contains(Role.source.rawValue)
    }

    private func fileName(_ path: String) -> String {
        asFloats && path == EntryPath.depth.description ? EntryPath.floats : path
    }

    func read(_ head: BundleReader.Head, _ manifest: Manifest) throws(BundleError) {
        depthSize = manifest.depth?.size
        listed = manifest.entries.map(\.path)
        switch destination {
        case .standardOutput: break
        case .folder(let path): folder = try ExtractionFolder(path, replaces: false)
        case .replacing(let path): folder = try ExtractionFolder(path, replaces: true)
        }
        let ofHead = [("manifest.json", head.manifest), ("assertion.cbor", head.assertion)]
        for path in listed.map(\.description) + ofHead.map(\.0) where wants(path) {
            try folder?.examine(FilePath(fileName(path)), reading: input)
        }
        for (path, bytes) in ofHead where wants(path) { try hold(path).write(bytes) }
    }

    func begin(_ entry: ManifestEntry) throws(BundleError) {
        let path = entry.path.description
        current = wants(path) ? try hold(path) : nil
        inflating = nil
        if current != nil, asFloats, entry.path == .depth, let depthSize {
            inflating = try DepthMapReader(size: depthSize)
        }
    }

    private func hold(_ path: String) throws(BundleError) -> OutputTarget {
        found.append(path)
        let name = fileName(path)
        let target =
            if let folder { try folder.target(FilePath(name)) } else {
                try OutputTarget(.standardOutput, holdsBack: true)
            }
        held.append((name, target))
        return target
    }

    func consume(_ piece: Span<UInt8>) throws(BundleError) {
        guard let current else { return }
        if let inflating {
            try inflating.consume(piece) { try current.write($0) }
        } else {
            try current.write(piece)
        }
    }

    /// Releases the requested entries. It is called once the bundle is known to be sound.
    func commit(withheld: Set<EntryPath>) throws(BundleError) -> [String] {
        let depth = EntryPath.depth.description
        let asked = wanted + (asFloats && wanted.isEmpty ? [depth] : [])
        let roles = found.compactMap { EntryPath($0)?.role.rawValue }
        if let absent = asked.first(where: {
            !found.contains($0) && !($0 == Role.source.rawValue && roles.contains($0))
        }) {
            let isWithheld = EntryPath(absent).map(withheld.contains) ?? false
            let reason = isWithheld ? "was withheld from this bundle" : "is not in this bundle"
            let names = listed.filter { !withheld.contains($0) }.map(\.description)
            throw BundleError(
                .entryAbsent, reason, file: name, entry: absent, cause: isWithheld ? .withheld : .notInBundle,
                values: (names + ["assertion.cbor", "manifest.json"]).sorted())
        }
        for item in held { try item.target.commit() }
        return held.map(\.name)
    }

    func abandon() { folder?.removeIfMade() }
}

/// The folder to which entries are written.
private final class ExtractionFolder {
    private let path: FilePath
    private let handle: FolderHandle
    private let replaces: Bool
    private let made: [FilePath]
    private var subfolders: [FilePath.Component: FolderHandle] = [:]
    private var madeSubfolders: [FilePath.Component] = []

    init(_ path: FilePath, replaces: Bool) throws(BundleError) {
        self.path = path
        self.replaces = replaces
        do {
            made = FileStatus.exists(path) ? [] : try Folders.create(path, mode: 0o777)
            handle = try FolderHandle(path, followsLinks: false)
        } catch {
            if error.isNoFolder || error.isLoop {
                let isLink = FileStatus.isLink(path)
                throw BundleError(
                    .outputUnusable, "is a \(isLink ? "symbolic link" : "file"), expected a folder", file: path,
                    cause: isLink ? .folderIsLink : nil)
            }
            throw .writing(path, error)
        }
    }

    /// Splits `source/x` into folder and name, and creates the folder.
    private func place(_ name: FilePath) throws(BundleError) -> (folder: FolderHandle, name: FilePath.Component) {
        guard let last = name.name else { throw BundleError(.internalFailure, "an entry without a name", file: name) }
        guard let first = name.folder.name else { return (handle, last) }
        if let known = subfolders[first] { return (known, last) }
        do {
            let (folder, isMade) = try handle.subfolder(first, mode: 0o777)
            subfolders[first] = folder
            if isMade { madeSubfolders.append(first) }
            return (folder, last)
        } catch {
            let full = path.appending(first)
            if error.isNoFolder || error.isLoop {
                throw BundleError(.outputUnusable, "is a file or a symbolic link, expected a folder", file: full)
            }
            throw .writing(full, error)
        }
    }

    /// Refuses existing files, and the input, before anything is written.
    func examine(_ name: FilePath, reading input: FileStatus?) throws(BundleError) {
        if let first = name.folder.name, handle.kind(of: first) == nil { return }
        let (folder, last) = try place(name)
        guard let kind = folder.kind(of: last) else { return }
        let full = path.pushing(name)
        guard replaces else { throw .exists(full) }
        guard kind == .file else { throw .notRegular(full) }
        if let input, let there = try? folder.status(of: last), there.isSameFile(as: input) { throw .input(full) }
    }

    func target(_ name: FilePath) throws(BundleError) -> OutputTarget {
        let (folder, last) = try place(name)
        let full = path.pushing(name)
        let file = try native({ .writing(full, $0) }) { try AtomicFile(last, in: folder, mode: 0o666) }
        return OutputTarget(file, name: full.string, existing: replaces ? .replace : .refuse)
    }

    /// Removes the folders that this extraction created, if they are empty.
    func removeIfMade() {
        for name in madeSubfolders { handle.removeEmptyFolder(name) }
        Folders.removeEmpty(made)
    }
}
