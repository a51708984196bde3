import CaptureNative
public import SystemPackage

/// The body of an upload (Spec/upload.md section 1): a pure function of the bundle.
///
/// ```swift
/// let body = try MultipartBody.write(bundle: "cap.bundle", to: .file("body"), headers: .file("headers"))
/// print(body.contentType)
/// ```
public struct MultipartBody: Sendable {
    /// Of the bundle.
    public let manifest: Manifest
    /// The value of the request's `Content-Type`.
    public let contentType: String
    /// Length of the body in bytes.
    public let byteCount: Int

    /// What servers of the upload contract may refuse; no fault of the bundle.
    public var remarks: [String] {
        var remarks: [String] = []
        if byteCount > UploadAdvice.bodyBytes {
            remarks.append("has \(byteCount) bytes; servers refuse more than \(UploadAdvice.bodyBytes)")
        }
        for (path, part) in [(EntryPath.depth, "depth_map"), (.photo, "photo")] where manifest.entry(path) == nil {
            remarks.append("has no part \(part), which servers ask for")
        }
        return remarks
    }

    /// `Content-Type: …` and a line feed: what `curl -H @FILE` takes.
    var headerFile: [UInt8] { Array("Content-Type: \(contentType)\n".utf8) }

    init(manifest: Manifest, boundary: MultipartBoundary, byteCount: Int) {
        self.manifest = manifest
        self.byteCount = byteCount
        contentType = "multipart/form-data; boundary=\(boundary.text)"
    }

    /// Verifies a bundle and writes its body, in one pass over the payload and in constant memory. Trust is not asked.
    ///
    /// - Parameters:
    ///   - path: a bundle, or `-` for the standard input, which is spooled to a temporary file without a name.
    ///   - headers: where the request's `Content-Type` line goes; nil for nowhere.
    /// - Throws: the worst fault of a bundle that is not sound; `input.unreadable`, `output.exists`, `output.unusable`,
    ///   `io.failed`. Nothing is left behind then, but a whole body whose headers could not be written after it.
    public static func write(
        bundle path: FilePath, to place: OutputPlace, headers: OutputPlace? = nil
    ) throws(BundleError) -> MultipartBody {
        let bundle = try SeekableBundle(path) { status throws(BundleError) in
            try OutputPlace.examine([place] + [headers].compactMap(\.self), reading: status)
        }
        for n in 0..<MultipartBoundary.candidates {
            let target = try OutputTarget(place, holdsBack: true)
            let observer = BodyObserver(path.string, target, n: n, unsigned: try bundle.metadataEntries())
            let report = try Verifier.soundness.verify(BundleReader(try bundle.source()), observer: observer)
            try report.requireSound(path.string)
            guard let body = try observer.finish() else { continue }
            try body.commit(target, headers)
            return body
        }
        throw noBoundary(path.string)
    }

    /// Releases the body, and then its headers.
    func commit(_ target: OutputTarget, _ headers: OutputPlace?) throws(BundleError) {
        let headerTarget = try headers.map { place throws(BundleError) in try OutputTarget(place, holdsBack: true) }
        try headerTarget?.write(headerFile)
        try target.commit()
        try headerTarget?.commit()
    }

    static func noBoundary(_ file: String) -> BundleError {
        BundleError(
            .outputUnusable,
            "this bundle cannot be sent: every boundary that its manifest gives appears in one of its parts",
            file: file)
    }
}

/// A bundle that can be read more than once.
struct SeekableBundle {
    private let name: String
    private let handle: FileHandle

    /// - Parameter handle: a plain file.
    init(_ handle: FileHandle, name: String) {
        self.handle = handle
        self.name = name
    }

    /// - Parameters:
    ///   - path: anything but a plain file is spooled.
    ///   - onOpen: told of the file before anything is read.
    init(_ path: FilePath, onOpen: (FileStatus) throws(BundleError) -> Void) throws(BundleError) {
        name = path.string
        let opened: FileHandle
        let status: FileStatus
        do {
            opened = path == "-" ? .standardInput : try FileHandle.reading(path)
            status = try opened.status()
        } catch {
            throw .reading(path, error)
        }
        try onOpen(status)
        if path != "-" && status.kind == .file {
            handle = opened
            return
        }
        let spool = try OutputTarget.spool()
        // Verified as it comes, so that what is no sound bundle is not taken in: a pipe may never end.
        let copy = CopyingStream(HandleStream(opened, name: name)) { piece throws(BundleError) in
            do throws(NativeError) { try spool.write(piece) } catch { throw OutputTarget.spoolFailure(error) }
        }
        let source = BundleSource(stream: copy, name: name)
        try Verifier.soundness.verify(BundleReader(source), observer: nil).requireSound(name)
        handle = spool
    }

    /// The whole, from its start.
    func source() throws(BundleError) -> BundleSource {
        do { try handle.seekToStart() } catch { throw .reading(name, error) }
        return BundleSource(handle: handle, name: name)
    }

    /// The same, as a stream.
    func stream() throws(BundleError) -> HandleStream {
        do { try handle.seekToStart() } catch { throw .reading(name, error) }
        return HandleStream(handle, name: name)
    }

    /// metadata.json and location.json as the headers show them, while the rest is passed over. Nothing vouches for them
    /// yet; what is missing or broken is left out.
    func metadataEntries() throws(BundleError) -> [EntryPath: [UInt8]] {
        let reader = BundleReader(try source())
        guard (try? reader.readHead()) != nil else { return [:] }
        var found: [EntryPath: [UInt8]] = [:]
        while let header = reader.nextHeader() {
            let path = EntryPath(header.name)
            if let path, [.metadata, .location].contains(path), header.size <= BundleLimits.metadataBytes {
                guard let bytes = try? reader.readDataWhole() else { break }
                found[path] = bytes
            } else if !reader.skipData() {
                break
            }
        }
        return found
    }
}

/// Writes the body while the bundle is verified.
final class BodyObserver: BundleObserver {
    private let name: String
    private let target: any BodyTarget
    private let n: Int
    /// What the metadata part is made of has to be known before its hashes are: it is compared with the manifest's.
    private let unsigned: [EntryPath: [UInt8]]
    private var hasPosition = false
    private var sawPosition = false
    private var writing: (writer: BodyWriter, manifest: Manifest, boundary: MultipartBoundary)?

    /// - Parameter name: the bundle, as messages name it.
    init(_ name: String, _ target: any BodyTarget, n: Int, unsigned: [EntryPath: [UInt8]]) {
        self.name = name
        self.target = target
        self.n = n
        self.unsigned = unsigned
    }

    func read(_ head: BundleReader.Head, _ manifest: Manifest) throws(BundleError) {
        // Where something of it is wrong, the verification goes on to say what, and no body is made.
        guard let json = try signed(.metadata, manifest),
            let root = try? JSONParser.parse(json, nesting: BundleLimits.metadataNesting, keeping: 2),
            let metadata = try? CaptureMetadata(root)
        else { return }
        let position = try signed(.location, manifest).flatMap { try? GeoPosition.decode($0) }
        hasPosition = position != nil
        let boundary = try MultipartBoundary(manifest: head.manifest, n: n)
        let writer = BodyWriter(target, boundary: boundary)
        let part = UploadMetadata.encode(
            manifest: manifest, deviceModel: metadata.deviceModel, position: position, assertion: head.assertion)
        try writer.write(.metadata, part)
        try writer.write(.manifest, head.manifest)
        try writer.write(.assertion, head.assertion)
        writing = (writer, manifest, boundary)
    }

    private func signed(_ path: EntryPath, _ manifest: Manifest) throws(BundleError) -> [UInt8]? {
        guard let bytes = unsigned[path], try Digest.of(bytes) == manifest.entry(path)?.sha256 else { return nil }
        return bytes
    }

    func begin(_ entry: ManifestEntry) throws(BundleError) {
        if entry.path == .location { sawPosition = true }
        try writing?.writer.begin(BodyPart(entry))
    }

    func consume(_ piece: Span<UInt8>) throws(BundleError) { try writing?.writer.write(piece) }

    /// nil when the boundary stands in a part.
    func finish() throws(BundleError) -> MultipartBody? {
        // The bundle is sound, so only another one under the same name can differ from what was seen before.
        guard let writing, hasPosition == sawPosition else {
            throw BundleError(.inputUnreadable, "changed while it was being read", file: name)
        }
        try writing.writer.finish()
        guard !writing.writer.isSpoilt else { return nil }
        return MultipartBody(
            manifest: writing.manifest, boundary: writing.boundary, byteCount: writing.writer.byteCount)
    }
}
