package import CaptureNative

/// The pieces of an upload body (Spec/upload.md section 1). Some are made here; the others are copied from the bundle,
/// where they have the same order. The body can therefore be sent in one pass over the bundle and without a copy of it.
///
/// Besides the headers, only the manifest, the assertion, metadata.json and location.json are read, and no signature is
/// verified. The sender of the body must compare the hash of the whole bundle.
package struct BodyLayout: Sendable {
    package enum Piece: Sendable {
        case made([UInt8])
        /// `count` bytes of the bundle, from `offset` on.
        case copied(offset: Int, count: Int)

        package var count: Int {
            switch self {
            case .made(let bytes): bytes.count
            case .copied(_, let count): count
            }
        }
    }

    /// The name of the metadata part's form in the upload contract (Spec/upload.md section 1.2).
    package static let profile = "capture"
    /// The version of the body's form. It changes whenever the body of a bundle would have other bytes than before.
    package static let version = 1

    package let pieces: [Piece]
    /// The bytes of the bundle from which the layout was computed. They are compared when the bundle is hashed.
    package let known: [(offset: Int, bytes: [UInt8])]
    package let body: MultipartBody
    /// The boundary. If it occurs in the copied bytes, the layout of the next candidate must be used.
    package let boundary: [UInt8]
    /// The number of the boundary's candidate, beginning with 0.
    package let candidate: Int
    let facts: BodyFacts
    let form: any BodyForm
    /// The name of the bundle in messages.
    let name: String

    /// Computes the layout of a bundle's body.
    ///
    /// - Parameters:
    ///   - bundle: The bundle, which is read from its start.
    ///   - first: The number of the first candidate for the boundary.
    ///   - form: The form of the body; nil for the form of Spec/upload.md section 1.
    /// - Throws: Faults of the container and the manifest; `output.unusable` if no boundary is left; the errors of the
    ///   form.
    package static func of(
        _ bundle: FileHandle, name: String, from first: Int = 0, form: (any BodyForm)? = nil
    ) throws(BundleError) -> BodyLayout {
        try native({ .reading(name, $0) }) { try bundle.seekToStart() }
        return try BodyLayout(
            BodyFacts(BundleSource(handle: bundle, name: name)), name: name, from: first, form: form)
    }

    package init(
        _ facts: BodyFacts, name: String, from first: Int = 0, form: (any BodyForm)? = nil
    ) throws(BundleError) {
        let form = form ?? CaptureForm()
        let parts = try form.made(from: facts)
        var (n, boundary) = (first - 1, [UInt8]())
        repeat {
            n += 1
            guard n < MultipartBoundary.candidates else { throw MultipartBody.noBoundary(name) }
            boundary = try MultipartBoundary(manifest: facts.manifestBytes, n: n, prefix: form.boundaryPrefix).bytes
        } while parts.contains { ByteSearch.first(boundary, in: $0.data.span, from: 0) != nil }
        let (line, crlf) = (Array("--".utf8) + boundary, Array("\r\n".utf8))
        var made: [UInt8] = []
        for part in parts { made += line + crlf + part.header + part.data + crlf }
        var pieces: [Piece] = []
        let assertion = AssertionPlace.offset(manifestSize: facts.manifestBytes.count) + UstarHeader.blockLength
        var known = [
            (BundleMagic.bytes.count + UstarHeader.blockLength, facts.manifestBytes), (assertion, facts.assertion),
        ]
        var offset = assertion + facts.assertion.count + UstarHeader.padding(facts.assertion.count)
        for entry in facts.entries {
            offset += UstarHeader.blockLength
            if let header = form.header(of: entry) {
                pieces += [.made(made + line + crlf + header), .copied(offset: offset, count: entry.size)]
                made = crlf
            }
            if let bytes = facts.unsigned[entry.path] { known.append((offset, bytes)) }
            offset += entry.size + UstarHeader.padding(entry.size)
        }
        pieces.append(.made(made + line + Array("--\r\n".utf8)))
        let byteCount = pieces.reduce(0) { $0 + $1.count }
        body = MultipartBody(
            manifest: facts.manifest,
            contentType: "multipart/form-data; boundary=\(String(decoding: boundary, as: UTF8.self))",
            byteCount: byteCount, remarks: form.remarks(facts, bodyBytes: byteCount) + facts.withheldRemarks)
        (self.pieces, self.known, self.boundary, candidate) = (pieces, known, boundary, n)
        (self.facts, self.form, self.name) = (facts, form, name)
    }
}

/// A place to which a body is written.
package protocol BodyTarget {
    func write(_ bytes: Span<UInt8>) throws(BundleError)
}

extension OutputTarget: BodyTarget {}

/// Writes a body while the entries of its bundle are read, and searches them for the boundary.
package final class BodyWriter: BundleObserver {
    private let layout: BodyLayout
    private let target: any BodyTarget
    private var scanner = BoundaryScanner()
    /// The pieces and the entries that are still to come.
    private var pieces: ArraySlice<BodyLayout.Piece>
    private var entries: ArraySlice<ManifestEntry>
    /// Whether the current entry is copied into the body.
    private var isSent = false
    private var isSpoilt = false
    /// Whether the layout was computed from other bytes.
    private var isOther = false

    package init(_ layout: BodyLayout, _ target: any BodyTarget) {
        (self.layout, self.target) = (layout, target)
        pieces = layout.pieces[...]
        entries = layout.facts.entries[...]
    }

    package func read(_ head: BundleReader.Head, _ manifest: Manifest) {
        isOther = head.manifest != layout.facts.manifestBytes || head.assertion != layout.facts.assertion
    }

    package func begin(_ entry: ManifestEntry) throws(BundleError) {
        isOther = isOther || entries.popFirst() != entry
        isSent = !isOther && layout.form.header(of: entry) != nil
        guard isSent else { return }
        try writeMade()
        scanner = BoundaryScanner(of: layout.boundary)
    }

    package func consume(_ piece: Span<UInt8>) throws(BundleError) {
        guard isSent else { return }
        try scanner.scan(piece) { _ in isSpoilt = true }
        try target.write(piece)
    }

    /// Ends the body; false if the boundary occurs in an entry, so that it cannot be used.
    package func finish() throws(BundleError) -> Bool {
        guard !isOther, entries.isEmpty else { throw PayloadContent.changed(layout.name) }
        try writeMade()
        return !isSpoilt
    }

    /// Writes the piece before the next entry that is sent, or the end of the body.
    private func writeMade() throws(BundleError) {
        if case .made(let bytes) = pieces.popFirst() { try target.write(bytes.span) }
        _ = pieces.popFirst()
    }
}
