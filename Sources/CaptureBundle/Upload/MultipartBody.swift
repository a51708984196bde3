package import CaptureNative
public import SystemPackage

/// The body of an upload (Spec/upload.md section 1). The bundle determines all its bytes.
///
/// ```swift
/// let body = try MultipartBody.write(bundle: "cap.bundle", to: .file("body"), headers: .file("headers"))
/// print(body.contentType)
/// ```
public struct MultipartBody: Sendable {
    public let manifest: Manifest
    /// The value of the request's `Content-Type`.
    public let contentType: String
    public let byteCount: Int

    /// Properties that servers of the upload contract may refuse. They are not faults of the bundle.
    public let remarks: [String]

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
        let bundle = try SeekableBundle(path) { status in
            try OutputPlace.examine([place] + [headers].compactMap(\.self), reading: status) {
                try $0.examine(mayExist: isAgain)
            }
        }
        let (body, target) = try bundle.body(form) { try OutputTarget(place, holdsBack: true) }
        try body.commit(target, headers, isAgain: isAgain)
        return body
    }

    /// Publishes the body, and then its headers.
    ///
    /// - Parameter isAgain: Whether an earlier run was interrupted, so that a file with the same bytes may exist.
    package func commit(_ target: OutputTarget, _ headers: OutputPlace?, isAgain: Bool = false) throws(BundleError) {
        let headerTarget = if let headers { try OutputTarget(headers, holdsBack: true) } else { nil as OutputTarget? }
        // A line as `curl -H @FILE` reads it.
        try headerTarget?.write(Array("Content-Type: \(contentType)\n".utf8))
        try isAgain ? target.commitOnce() : target.commit()
        try isAgain ? headerTarget?.commitOnce() : headerTarget?.commit()
    }

    static func noBoundary(_ file: String) -> BundleError {
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
    init(_ path: FilePath, onOpen: (FileStatus) throws -> Void) throws(BundleError) {
        name = path.string
        let (opened, status) = try native({ .opening(path, $0) }) {
            let opened = path == "-" ? FileHandle.standardInput : try FileHandle.reading(path)
            return (opened, try opened.status())
        }
        try native { try onOpen(status) }
        if path != "-" && status.kind == .file {
            handle = opened
            return
        }
        let temporary = try OutputTarget.temporary()
        // The bundle is verified while it arrives, so that a source that is not a sound bundle is not stored: a pipe
        // may never end.
        let source = BundleSource(handle: opened, name: name) { piece in
            try native(OutputTarget.temporaryFailure) { try temporary.write(piece) }
        }
        try Verifier.soundness.verify(BundleReader(source), observer: nil).requireSound(name)
        handle = temporary
    }

    /// Verifies the bundle and writes its body, with the first boundary that occurs in no part.
    ///
    /// - Parameters:
    ///   - expected: The hash of the whole bundle; other bytes are refused.
    ///   - target: Makes the place for a body.
    package func body<Target: BodyTarget>(
        _ form: (any BodyForm)? = nil, sha256 expected: Digest? = nil, in target: () throws -> Target
    ) throws(BundleError) -> (MultipartBody, Target) {
        var candidate = 0
        while true {
            let layout: BodyLayout
            do { layout = try BodyLayout.of(handle, name: name, from: candidate, form: form) } catch {
                // The verification finds all faults of a damaged bundle.
                try verify(sha256: expected)
                throw error
            }
            let target = try native { try target() }
            let writer = BodyWriter(layout, target)
            try verify(sha256: expected, writer)
            if try writer.finish() { return (layout.body, target) }
            candidate = layout.candidate + 1
        }
    }

    /// - Throws: The worst fault of the bundle; `entry.sha256` if it does not have the expected hash.
    package func verify(sha256 expected: Digest?, _ observer: (any BundleObserver)? = nil) throws(BundleError) {
        let hash = try DigestStream()
        try native({ .reading(name, $0) }) { try handle.seekToStart() }
        let source = BundleSource(handle: handle, name: name) { piece in
            if expected != nil { try hash.update(piece) }
        }
        let report = try Verifier.soundness.verify(BundleReader(source), observer: observer)
        try report.requireSound(name)
        if let expected, try hash.finish() != expected {
            throw BundleError(.entrySHA256, "the bytes changed since they were pushed", file: name)
        }
    }
}

/// The boundary between the parts of a body (Spec/upload.md section 1.1).
package struct MultipartBoundary: Hashable, Sendable {
    package static let prefix = Array("capture-bundle-".utf8)
    package static let digits = 40
    package static let length = prefix.count + digits
    package static let candidates = 16

    /// The prefix and 40 hex digits.
    let bytes: [UInt8]

    var text: String { String(decoding: bytes, as: UTF8.self) }

    /// Computes the `n`th boundary of a manifest.
    package init(manifest: [UInt8], n: Int, prefix: [UInt8] = Self.prefix) throws(BundleError) {
        let digest = try Digest.of(manifest + Array(String(n).utf8))
        bytes = prefix + Hex.encode(digest.bytes).utf8.prefix(Self.digits)
    }

    /// Reads a boundary; nil if the bytes do not have the form of one.
    package init?(_ bytes: [UInt8], prefix: [UInt8] = Self.prefix) {
        guard bytes.count == prefix.count + Self.digits, bytes.starts(with: prefix),
            Hex.decode(String(decoding: bytes.dropFirst(prefix.count), as: UTF8.self)) != nil
        else { return nil }
        self.bytes = bytes
    }
}

/// Finds byte strings that have the form of a boundary in data that arrives in pieces.
package struct BoundaryScanner {
    /// What each of them begins with. The search is faster the longer it is.
    private let beginning: [UInt8]
    private let length: Int
    private var tail: [UInt8] = []

    package init() { (beginning, length) = (MultipartBoundary.prefix, MultipartBoundary.length) }

    /// Creates a scanner for this boundary alone.
    package init(of boundary: [UInt8]) { (beginning, length) = (boundary, boundary.count) }

    /// Searches the next bytes of a body.
    ///
    /// - Parameter found: Receives each occurrence, whole.
    package mutating func scan(_ piece: Span<UInt8>, found: ([UInt8]) throws -> Void) throws(BundleError) {
        let keep = length - 1
        // First search across the border: such an occurrence begins in the tail and ends in the head of this piece.
        var joint = tail
        joint.append(copying: piece.extracting(first: min(keep, piece.count)))
        try each(in: joint.span, beginningBefore: tail.count, found)
        try each(in: piece, beginningBefore: piece.count, found)
        if piece.count >= keep {
            tail = []
            tail.append(copying: piece.extracting((piece.count - keep)..<piece.count))
        } else {
            tail = joint.suffix(keep)
        }
    }

    private func each(
        in bytes: Span<UInt8>, beginningBefore border: Int, _ found: ([UInt8]) throws -> Void
    ) throws(BundleError) {
        var start = 0
        while let offset = ByteSearch.first(beginning, in: bytes, from: start), offset < border {
            guard offset + length <= bytes.count else { return }
            start = offset + 1
            let digits = bytes.extracting((offset + beginning.count)..<(offset + length))
            guard Self.isHex(digits) else { continue }
            var match: [UInt8] = []
            match.append(copying: bytes.extracting(offset..<(offset + length)))
            try native { try found(match) }
        }
    }

    private static func isHex(_ digits: Span<UInt8>) -> Bool {
        (0..<digits.count).allSatisfy { EntryPath.isAlphanumeric(digits[$0]) && digits[$0] <= UInt8(ascii: "f") }
    }
}
