import CaptureNative
import SystemPackage

/// The bytes of an entry in a file that somebody kept: the whole file, or a part of a bundle.
struct KeptFile {
    let name: String
    private let handle: FileHandle
    private let offset: Int
    private let size: Int

    init(_ handle: FileHandle, name: String, offset: Int = 0, size: Int) {
        (self.handle, self.name, self.offset, self.size) = (handle, name, offset, size)
    }

    /// Reads the bytes again, passes them to `body` and returns their hash.
    func read(_ body: (Span<UInt8>) throws(BundleError) -> Void = { _ in }) throws(BundleError) -> Digest {
        do { try handle.seek(to: offset) } catch { throw .reading(name, error) }
        let source = BundleSource(handle: handle, name: name)
        let digest = try source.digest(limit: size, body)
        guard source.position == size else { throw Self.changed(name) }
        return digest
    }

    /// Passes the bytes of an entry to `body`.
    ///
    /// - Throws: `input.unreadable` if the file changed since it was compared with the entry.
    func supply(_ entry: ManifestEntry, to body: (Span<UInt8>) throws(BundleError) -> Void) throws(BundleError) {
        guard try read(body) == entry.sha256 else { throw Self.changed(name) }
    }

    private static func changed(_ name: String) -> BundleError {
        BundleError(.inputUnreadable, "changed while it was being read", file: name)
    }
}

/// The files that somebody kept, and the entries of a manifest that they fit. They are matched by size and SHA-256.
struct KeptFiles {
    private var supplies: [EntryPath: KeptFile] = [:]
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

    func supply(_ path: EntryPath) -> KeptFile? { supplies[path] }

    private mutating func add(_ path: FilePath) throws(BundleError) {
        let (handle, size) = try native({ .reading(path, $0) }) {
            if try FileStatus.of(path).kind == .folder {
                throw BundleError(.inputUnreadable, "is a folder, expected a file", file: path)
            }
            guard let handle = try FileHandle.readingPlainFile(path) else {
                throw BundleError(.inputUnreadable, "is not a regular file", file: path)
            }
            return (handle, try handle.status().size)
        }
        var start = [UInt8](repeating: 0, count: FileKind.length)
        do {
            let count = try handle.read(into: &start)
            start.removeLast(start.count - count)
        } catch {
            throw .reading(path, error)
        }
        let file = KeptFile(handle, name: path.string, size: size)
        let sizes = Set(manifest.entries.map(\.size) + [manifest.depth?.size.byteCount ?? 0])
        let digest = sizes.contains(size) ? try file.read() : nil
        let fitting = manifest.entries.filter { $0.size == size && $0.sha256 == digest }
        for entry in fitting { supplies[entry.path] = file }
        guard fitting.isEmpty else { return }
        // An entry can be a bundle itself, so this comes second.
        if start == BundleMagic.bytes { return try addBundle(handle, file.name) }
        let reason =
            if let digest, digest == manifest.depth?.sha256 {
                "has the raw floats of the depth map, expected the compressed depth.f32.gz"
            } else {
                "fits no withheld entry: " + (digest.map { "its SHA-256 is \($0)" } ?? "no entry has \(size) bytes")
            }
        unknown.append((file.name, reason))
    }

    /// Adds the entries of a bundle that has the same manifest.
    private mutating func addBundle(_ handle: FileHandle, _ name: String) throws(BundleError) {
        do { try handle.seekToStart() } catch { throw .reading(name, error) }
        let reader = BundleReader(BundleSource(handle: handle, name: name))
        do throws(BundleError) {
            let head = try reader.readHead()
            guard head.manifest == manifestBytes else {
                let (own, expected) = (try Digest.of(head.manifest), try Digest.of(manifestBytes))
                unknown.append((name, "is a bundle whose manifest has the SHA-256 \(own), expected \(expected)"))
                return
            }
            while let entry = try reader.nextEntry(of: manifest) {
                let file = KeptFile(handle, name: name, offset: reader.position, size: entry.size)
                let hash = try DigestStream()
                try reader.readData { piece throws(BundleError) in try hash.update(piece) }
                let digest = try hash.finish()
                guard digest == entry.sha256 else {
                    throw BundleError(
                        .entrySHA256, "SHA-256 is \(digest), the manifest says \(entry.sha256)",
                        entry: entry.path.description)
                }
                supplies[entry.path] = file
            }
        } catch {
            throw error.file == nil ? error.about(file: name) : error
        }
    }
}
