import CaptureNative
import SystemPackage

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
