package import CaptureNative
public import SystemPackage

/// The body of an upload (Spec/upload.md section 1). The bundle determines all its bytes.
///
/// ```swift
/// let body = try MultipartBody.write(bundle: "cap.bundle", to: .file("body"), headers: .file("headers"))
/// print(body.contentType)
/// ```
public struct MultipartBody: Sendable {
    /// The manifest of the bundle.
    public let manifest: Manifest
    /// The value of the request's `Content-Type`.
    public let contentType: String
    /// The length of the body in bytes.
    public let byteCount: Int

    /// Properties that servers of the upload contract may refuse. They are not faults of the bundle.
    public let remarks: [String]

    /// The line `Content-Type: …` with a line feed, as `curl -H @FILE` reads it.
    var headerFile: [UInt8] { Array("Content-Type: \(contentType)\n".utf8) }

    /// - Parameter remarks: The warnings; nil for those about a body of profile `capture`.
    package init(manifest: Manifest, boundary: MultipartBoundary, byteCount: Int, remarks: [String]? = nil) {
        self.manifest = manifest
        self.remarks = remarks ?? CaptureForm.remarks(manifest, bodyBytes: byteCount)
        self.byteCount = byteCount
        contentType = "multipart/form-data; boundary=\(boundary.text)"
    }

    /// Verifies a bundle and writes its body, in one pass over the payload and in constant memory. It does not check
    /// trust.
    ///
    /// - Parameters:
    ///   - path: A bundle, or `-` for standard input, which is copied to a temporary file without a name.
    ///   - headers: The place for the request's `Content-Type` line; nil writes none.
    /// - Throws: The worst fault of a damaged bundle; `input.unreadable`, `output.exists`, `output.unusable`,
    ///   `io.failed`. Nothing is left behind then, except a complete body if its headers could not be written after it.
    public static func write(
        bundle path: FilePath, to place: OutputPlace, headers: OutputPlace? = nil
    ) throws(BundleError) -> MultipartBody {
        try write(CaptureForm(), bundle: path, to: place, headers: headers)
    }

    /// Writes a body in another form.
    package static func write(
        _ form: any BodyForm, bundle path: FilePath, to place: OutputPlace, headers: OutputPlace?
    ) throws(BundleError) -> MultipartBody {
        // Only a run with two outputs can end between them. The body of profile `realitycam` is another one each time.
        let isAgain = headers != nil && form is CaptureForm && place.exists
        let bundle = try SeekableBundle(path) { status throws(BundleError) in
            try OutputPlace.examine([place] + [headers].compactMap(\.self), reading: status) {
                place throws(BundleError) in try place.examine(mayExist: isAgain)
            }
        }
        let (body, target) = try bundle.body(form) { () throws(BundleError) in
            try OutputTarget(place, holdsBack: true)
        }
        try body.commit(target, headers, isAgain: isAgain)
        return body
    }

    /// Publishes the body, and then its headers.
    ///
    /// - Parameter isAgain: Whether an earlier run was interrupted, so that a file with the same bytes may exist.
    package func commit(_ target: OutputTarget, _ headers: OutputPlace?, isAgain: Bool = false) throws(BundleError) {
        let headerTarget = try headers.map { place throws(BundleError) in try OutputTarget(place, holdsBack: true) }
        try headerTarget?.write(headerFile)
        try isAgain ? target.commitOnce() : target.commit()
        try isAgain ? headerTarget?.commitOnce() : headerTarget?.commit()
    }

    package static func noBoundary(_ file: String) -> BundleError {
        BundleError(
            .outputUnusable,
            "this bundle cannot be sent: every boundary that its manifest gives appears in one of its parts",
            file: file)
    }
}

/// A bundle that can be read more than once.
package struct SeekableBundle {
    private let name: String
    private let handle: FileHandle

    /// - Parameter handle: A regular file.
    package init(_ handle: FileHandle, name: String) {
        self.handle = handle
        self.name = name
    }

    /// - Parameters:
    ///   - path: The bundle. Anything except a regular file is copied to a temporary file.
    ///   - onOpen: Receives the status of the file before anything is read.
    init(_ path: FilePath, onOpen: (FileStatus) throws(BundleError) -> Void) throws(BundleError) {
        name = path.string
        let opened: FileHandle
        let status: FileStatus
        do {
            opened = path == "-" ? .standardInput : try FileHandle.reading(path)
            status = try opened.status()
        } catch {
            throw .opening(path, error)
        }
        try onOpen(status)
        if path != "-" && status.kind == .file {
            handle = opened
            return
        }
        let temporary = try OutputTarget.temporary()
        // The bundle is verified while it arrives, so that a source that is not a sound bundle is not stored: a pipe
        // may never end.
        let copy = CopyingStream(HandleStream(opened, name: name)) { piece throws(BundleError) in
            do throws(NativeError) { try temporary.write(piece) } catch { throw OutputTarget.temporaryFailure(error) }
        }
        let source = BundleSource(stream: copy, name: name)
        try Verifier.soundness.verify(BundleReader(source), observer: nil).requireSound(name)
        handle = temporary
    }

    /// Verifies the bundle and writes its body, with the first boundary that occurs in no part.
    ///
    /// - Parameters:
    ///   - expected: The hash of the whole bundle; other bytes are refused.
    ///   - target: Makes the place for a body.
    package func body<Target: BodyTarget>(
        _ form: (any BodyForm)? = nil, sha256 expected: Digest? = nil, in target: () throws(BundleError) -> Target
    ) throws(BundleError) -> (MultipartBody, Target) {
        for n in 0..<MultipartBoundary.candidates {
            let target = try target()
            let observer = BodyObserver(name, target, form, n: n, unsigned: metadataEntries)
            try verify(sha256: expected, observer)
            if let body = try observer.finish() { return (body, target) }
        }
        throw MultipartBody.noBoundary(name)
    }

    /// - Throws: The worst fault of the bundle; `entry.sha256` if it does not have the expected hash.
    package func verify(sha256 expected: Digest?, _ observer: any BundleObserver) throws(BundleError) {
        let hash = try DigestStream()
        let stream = CopyingStream(try stream()) { piece throws(BundleError) in
            if expected != nil { try hash.update(piece) }
        }
        let report = try Verifier.soundness.verify(
            BundleReader(BundleSource(stream: stream, name: name)), observer: observer)
        try report.requireSound(name)
        if let expected, try hash.finish() != expected {
            throw BundleError(.entrySHA256, "the bytes changed since they were pushed", file: name)
        }
    }

    /// The whole bundle as a source, from its start.
    package func source() throws(BundleError) -> BundleSource {
        do { try handle.seekToStart() } catch { throw .reading(name, error) }
        return BundleSource(handle: handle, name: name)
    }

    /// The whole bundle as a stream, from its start.
    func stream() throws(BundleError) -> HandleStream {
        do { try handle.seekToStart() } catch { throw .reading(name, error) }
        return HandleStream(handle, name: name)
    }

    /// The contents of metadata.json and location.json; none if the bundle is broken. Nothing is verified yet.
    package var metadataEntries: [EntryPath: [UInt8]] {
        (try? BodyContents(BundleReader(source())))?.unsigned ?? [:]
    }
}

/// Writes the body while the bundle is verified.
package final class BodyObserver: BundleObserver {
    private let name: String
    private let target: any BodyTarget
    private let form: any BodyForm
    private let n: Int
    /// The contents of the metadata part, which must be known before their entries are verified. Their hashes are
    /// compared with the manifest.
    private let unsigned: [EntryPath: [UInt8]]
    private var hasPosition = false
    private var sawPosition = false
    /// The entries that the bundle has.
    private var present: Set<EntryPath> = []
    /// Whether the current entry is copied into the body.
    private var isSent = false
    private var writing: (writer: BodyWriter, facts: BodyFacts, boundary: MultipartBoundary)?

    /// - Parameter name: The name of the bundle in messages.
    package init(
        _ name: String, _ target: any BodyTarget, _ form: (any BodyForm)? = nil, n: Int,
        unsigned: [EntryPath: [UInt8]]
    ) {
        self.name = name
        self.target = target
        self.form = form ?? CaptureForm()
        self.n = n
        self.unsigned = unsigned
    }

    package func read(_ head: BundleReader.Head, _ manifest: Manifest) throws(BundleError) {
        // If one of these contents is wrong, no body is made, and the verification goes on to find the fault.
        guard let json = try signed(.metadata, manifest),
            let root = try? JSONParser.parse(json, nesting: BundleLimits.metadataNesting, keeping: 2),
            let metadata = try? CaptureMetadata(root)
        else { return }
        let position = try signed(.location, manifest).flatMap { try? GeoPosition.decode($0) }
        hasPosition = position != nil
        let boundary = try MultipartBoundary(manifest: head.manifest, n: n, prefix: form.boundaryPrefix)
        let writer = BodyWriter(target, boundary: boundary)
        let facts = BodyFacts(
            manifest: manifest, manifestBytes: head.manifest, assertion: head.assertion,
            deviceModel: metadata.deviceModel, position: position)
        for part in try form.made(from: facts) {
            try writer.begin(header: part.header)
            try writer.write(part.data.span)
        }
        writing = (writer, facts, boundary)
    }

    private func signed(_ path: EntryPath, _ manifest: Manifest) throws(BundleError) -> [UInt8]? {
        guard let bytes = unsigned[path], try Digest.of(bytes) == manifest.entry(path)?.sha256 else { return nil }
        return bytes
    }

    package func begin(_ entry: ManifestEntry) throws(BundleError) {
        present.insert(entry.path)
        if entry.path == .location { sawPosition = true }
        let header = form.header(of: entry)
        isSent = header != nil
        if let header { try writing?.writer.begin(header: header) }
    }

    package func consume(_ piece: Span<UInt8>) throws(BundleError) { if isSent { try writing?.writer.write(piece) } }

    /// Ends the body; nil if the boundary occurs in a part.
    package func finish() throws(BundleError) -> MultipartBody? {
        // The bundle is sound, so the contents can differ from those read before only if the file was changed
        // meanwhile.
        guard let writing, hasPosition == sawPosition else {
            throw BundleError(.inputUnreadable, "changed while it was being read", file: name)
        }
        try writing.writer.finish()
        guard !writing.writer.isSpoilt else { return nil }
        let byteCount = writing.writer.byteCount
        return MultipartBody(
            manifest: writing.facts.manifest, boundary: writing.boundary, byteCount: byteCount,
            remarks: form.remarks(writing.facts, bodyBytes: byteCount) + withheldRemarks(writing.facts.manifest))
    }

    private func withheldRemarks(_ manifest: Manifest) -> [String] {
        [(EntryPath.depth, "depth_map"), (.photo, "photo")]
            .filter { manifest.entry($0.0) != nil && !present.contains($0.0) }
            .map { "has no part \($0.1), because \($0.0) is withheld; servers require this part" }
    }
}
