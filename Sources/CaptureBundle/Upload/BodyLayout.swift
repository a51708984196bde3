package import CaptureNative

/// Where the bytes of an upload body (Spec/upload.md section 1) come from: some are made, the others stand in the bundle,
/// in the same order, so that a body can be sent in one pass over the bundle and without a copy of it.
///
/// Only headers are read for it, and nothing of them is verified: who sends the body compares the hash of the whole bundle.
package struct BodyLayout: Sendable {
    package enum Piece: Sendable {
        case made([UInt8])
        /// So many bytes of the bundle.
        case copied(offset: Int, count: Int)

        package var count: Int {
            switch self {
            case .made(let bytes): bytes.count
            case .copied(_, let count): count
            }
        }
    }

    /// What the upload contract calls the form of the metadata part (Spec/upload.md section 1.2).
    package static let profile = "capture"
    /// Of the body's form: another number wherever a bundle's body would have other bytes than before.
    package static let version = 1

    package let pieces: [Piece]
    /// What of the bundle was read for it: to be compared when the bundle is hashed.
    package let known: [(offset: Int, bytes: [UInt8])]
    package let contentType: String
    /// Must not stand in what is copied; then the layout of the next candidate is to be used.
    package let boundary: [UInt8]
    /// Which candidate it is, from 0.
    package let candidate: Int

    package var byteCount: Int { pieces.reduce(0) { $0 + $1.count } }

    /// - Parameters:
    ///   - bundle: read from its start.
    ///   - first: the first boundary that is tried.
    /// - Throws: faults of the container; `output.unusable` where no boundary is left.
    package static func of(
        _ bundle: FileHandle, name: String, from first: Int = 0
    ) throws(BundleError) -> BodyLayout {
        let seekable = SeekableBundle(bundle, name: name)
        let unsigned = try seekable.metadataEntries()
        for n in first..<max(first, MultipartBoundary.candidates) {
            let target = PieceTarget()
            let observer = BodyObserver(name, target, n: n, unsigned: unsigned)
            let reader = BundleReader(try seekable.source())
            let head = try reader.readHead()
            let manifest = try Manifest.decode(head.manifest)
            try observer.read(head, manifest)
            let start = BundleMagic.bytes.count + UstarHeader.blockLength
            let size = head.manifest.count
            let second = start + size + UstarHeader.padding(size) + UstarHeader.blockLength
            var known = [(offset: start, bytes: head.manifest), (offset: second, bytes: head.assertion)]
            while let entry = try reader.nextEntry(of: manifest) {
                try observer.begin(entry)
                if let bytes = unsigned[entry.path] { known.append((reader.position, bytes)) }
                target.pieces.append(.copied(offset: reader.position, count: entry.size))
                guard reader.skipData() else {
                    throw BundleError(.containerTruncated, "ends inside an entry's data", entry: entry.path.description)
                }
            }
            guard let body = try observer.finish() else { continue }
            return BodyLayout(
                pieces: target.pieces, known: known, contentType: body.contentType,
                boundary: try MultipartBoundary(manifest: head.manifest, n: n).bytes, candidate: n)
        }
        throw MultipartBody.noBoundary(name)
    }
}

/// Keeps what is made.
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
