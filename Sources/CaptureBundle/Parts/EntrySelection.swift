import CaptureNative
import SystemPackage

/// Entries that a user names in order to withhold them (Spec/capture-bundle.md section 8).
///
/// ```swift
/// var selection = EntrySelection()
/// selection.add("location.json")
/// ```
public struct EntrySelection: Hashable, Sendable {
    package struct Item: Hashable, Sendable, CustomStringConvertible {
        /// nil for all entries below `source/`.
        let entry: EntryPath?

        package func contains(_ path: EntryPath) -> Bool { entry.map { $0 == path } ?? (path.role == .source) }

        package var description: String { entry?.description ?? Role.source.rawValue }
    }

    package private(set) var items: [Item] = []

    public init() {}

    /// Adds the entry that a word names: a path, `depth.f32`, or a role. `source` means all entries below `source/`.
    ///
    /// - Returns: false for a word that names no entry.
    public mutating func add(_ word: String) -> Bool {
        if word == Role.source.rawValue {
            items.append(Item(entry: nil))
        } else if let path = EntryPath.withRole(word) ?? EntryPath(asTyped: word) {
            add(path)
        } else {
            return false
        }
        return true
    }

    public mutating func add(_ path: EntryPath) { items.append(Item(entry: path)) }

    public func contains(_ path: EntryPath) -> Bool { items.contains { $0.contains(path) } }

    /// Whether an entry other than `location.json` is named.
    public var hasMoreThanThePosition: Bool { items.contains { $0.entry != .location } }
}

extension EntryPath {
    /// The entry of a role that has only one entry.
    static func withRole(_ word: String) -> EntryPath? {
        [.photo, .depth, .metadata, .location, .confidence].first { $0.role.rawValue == word }
    }
}

/// The files that somebody kept, and the entries of a manifest that they fit. They are matched by size and SHA-256.
struct KeptFiles {
    /// The contents of the entries.
    private(set) var supplies: [EntryPath: PayloadContent] = [:]
    /// The files that fit no entry, and why.
    private(set) var unknown: [(file: String, reason: String)] = []
    private let manifest: Manifest
    private let manifestBytes: [UInt8]

    /// Opens all files and compares them with the entries of a bundle.
    ///
    /// - Throws: `input.unreadable`, `io.failed`; the fault of a bundle that was kept and is damaged.
    init(_ paths: [FilePath], head: BundleReader.Head, _ manifest: Manifest) throws(BundleError) {
        self.manifest = manifest
        manifestBytes = head.manifest
        if paths.count > 200 { _ = ProcessLimits.raiseOpenFiles() }
        for path in paths { try add(path) }
    }

    private mutating func add(_ path: FilePath) throws(BundleError) {
        let name = path.string
        let (handle, size, start) = try native({ .reading(path, $0) }) {
            if try FileStatus.of(path).kind == .folder {
                throw BundleError(.inputUnreadable, "is a folder, expected a file", file: path)
            }
            guard let handle = try FileHandle.readingPlainFile(path) else {
                throw BundleError(.inputUnreadable, "is not a regular file", file: path)
            }
            return (handle, try handle.status().size, try handle.read(FileKind.length, at: 0))
        }
        let sizes = Set(manifest.entries.map(\.size) + [manifest.depth?.size.byteCount ?? 0])
        let digest = sizes.contains(size) ? try PayloadContent.hash(handle, name: name, expecting: size) : nil
        let fitting = manifest.entries.filter { $0.size == size && $0.sha256 == digest }
        for entry in fitting { supplies[entry.path] = .file(handle, name: name) }
        guard fitting.isEmpty else { return }
        // An entry can be a bundle itself, so this comes second.
        if start == BundleMagic.bytes { return try addBundle(handle, name) }
        let reason =
            if let digest, digest == manifest.depth?.sha256 {
                "has the raw floats of the depth map, expected the compressed depth.f32.gz"
            } else {
                "fits no withheld entry: " + (digest.map { "its SHA-256 is \($0)" } ?? "no entry has \(size) bytes")
            }
        unknown.append((name, reason))
    }

    /// Adds the entries of a bundle that has the same manifest.
    private mutating func addBundle(_ handle: FileHandle, _ name: String) throws(BundleError) {
        try native({ .reading(name, $0) }) { try handle.seekToStart() }
        let reader = BundleReader(BundleSource(handle: handle, name: name))
        do throws(BundleError) {
            let head = try reader.readHead()
            guard head.manifest == manifestBytes else {
                let (own, expected) = (try Digest.of(head.manifest), try Digest.of(manifestBytes))
                unknown.append((name, "is a bundle whose manifest has the SHA-256 \(own), expected \(expected)"))
                return
            }
            while let entry = try reader.nextEntry(of: manifest) {
                let content = PayloadContent.file(handle, name: name, offset: reader.position)
                let hash = try DigestStream()
                try reader.readData { try hash.update($0) }
                let digest = try hash.finish()
                guard digest == entry.sha256 else {
                    throw BundleError(
                        .entrySHA256, "SHA-256 is \(digest), the manifest says \(entry.sha256)",
                        entry: entry.path.description)
                }
                supplies[entry.path] = content
            }
        } catch {
            throw error.file == nil ? error.about(file: name) : error
        }
    }
}
