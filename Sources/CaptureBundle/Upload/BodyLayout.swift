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
    package let contentType: String
    /// The boundary. If it occurs in the copied bytes, the layout of the next candidate must be used.
    package let boundary: [UInt8]
    /// The number of the boundary's candidate, beginning with 0.
    package let candidate: Int

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
        let form = form ?? CaptureForm()
        let contents = try BodyContents(BundleReader(SeekableBundle(bundle, name: name).source()))
        for n in first..<max(first, MultipartBoundary.candidates) {
            let target = PieceTarget()
            let observer = BodyObserver(name, target, form, n: n, unsigned: contents.unsigned)
            try observer.read(contents.head, contents.manifest)
            for (entry, offset) in contents.entries {
                try observer.begin(entry)
                if form.header(of: entry) != nil { target.pieces.append(.copied(offset: offset, count: entry.size)) }
            }
            guard let body = try observer.finish() else { continue }
            let boundary = try MultipartBoundary(manifest: contents.head.manifest, n: n, prefix: form.boundaryPrefix)
            return BodyLayout(
                pieces: target.pieces, known: contents.known, contentType: body.contentType, boundary: boundary.bytes,
                candidate: n)
        }
        throw MultipartBody.noBoundary(name)
    }
}

/// What the layout of a body depends on.
struct BodyContents {
    let head: BundleReader.Head
    let manifest: Manifest
    /// The entries that the bundle has, each with the offset of its bytes.
    private(set) var entries: [(entry: ManifestEntry, offset: Int)] = []
    /// The contents of metadata.json and location.json.
    private(set) var unsigned: [EntryPath: [UInt8]] = [:]
    private(set) var known: [(offset: Int, bytes: [UInt8])]

    init(_ reader: BundleReader) throws(BundleError) {
        head = try reader.readHead()
        manifest = try Manifest.decode(head.manifest)
        let size = head.manifest.count
        let start = BundleMagic.bytes.count + UstarHeader.blockLength
        let second = start + size + UstarHeader.padding(size) + UstarHeader.blockLength
        known = [(start, head.manifest), (second, head.assertion)]
        while let entry = try reader.nextEntry(of: manifest) {
            let offset = reader.position
            entries.append((entry, offset))
            if [.metadata, .location].contains(entry.path), entry.size <= BundleLimits.metadataBytes {
                let bytes = try reader.readDataWhole()
                unsigned[entry.path] = bytes
                known.append((offset, bytes))
            } else if !reader.skipData() {
                throw BundleError(.containerTruncated, "ends inside an entry's data", entry: entry.path.description)
            }
        }
    }
}

/// A target that keeps the bytes that are made.
private final class PieceTarget: BodyTarget {
    var pieces: [BodyLayout.Piece] = []

    func write(_ bytes: Span<UInt8>) {
        var made: [UInt8] = []
        if case .made(let before) = pieces.last {
            made = before
            pieces.removeLast()
        }
        made.append(copying: bytes)
        pieces.append(.made(made))
    }
}
