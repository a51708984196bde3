import CaptureBundle
import CaptureNative
import CurlClient
import QueueModel

/// Replaces the beginning of a bundle that a torn upload left at a fetched URL (Spec/queue.md section 12).
extension PutTransport {
    /// Whether the bytes at the place are the first of those that were sent.
    func isBeginning(_ start: (byteCount: Int, sha256: Digest), of upload: Upload) -> Bool {
        guard start.byteCount < upload.content.byteCount, let hasher = try? SHA256Hasher() else { return false }
        var offset = 0
        while offset < start.byteCount {
            let count = min(1 << 18, start.byteCount - offset)
            guard let piece = try? upload.content.handle.read(count, at: offset), !piece.isEmpty,
                (try? hasher.update(piece.span)) != nil
            else { return false }
            offset += piece.count
        }
        return (try? hasher.finish()) == start.sha256.bytes
    }

    /// Replaces what is there if it is of an earlier try of ours, unless somebody changes it meanwhile.
    ///
    /// - Parameters:
    ///   - byteCount: the number of bytes that are there, which are the first of ours.
    ///   - etag: their ETag.
    ///   - refusal: the answer to the PUT that was to replace nothing.
    func replaced(
        _ upload: Upload, byteCount: Int, etag: String?, _ refusal: HTTPEnd
    ) throws -> SendOutcome {
        let place = upload.place
        guard upload.wasTried, place.isFetched, !givesCondition(place), hasManifest(upload, byteCount),
            // A weak ETag matches nothing (RFC 9110 section 13.1.1).
            let etag, etag.hasPrefix("\""), obeysIfMatch(upload)
        else {
            return .conflict(
                message: "\(refusal.message), and holds the first \(byteCount) of \(upload.content.byteCount) bytes: "
                    + "a torn upload")
        }
        let (end, _) = try put(upload, replaces: true, torn: etag)
        return end.kind == .present ? named(end).outcome : try evaluate(named(end), isConditional: false, upload)
    }

    /// Whether the first bytes contain the whole manifest, which no other capture has.
    private func hasManifest(_ upload: Upload, _ byteCount: Int) -> Bool {
        guard let source = try? upload.job.open(),
            let manifest = try? BodyLayout.of(source.handle, name: source.name).known.first?.bytes,
            let start = try? upload.content.handle.read(min(byteCount, Self.longestStart), at: 0)
        else { return false }
        return ByteSearch.first(manifest, in: start.span, from: 0) != nil
    }

    /// A manifest of 1 MiB ends before this byte, in a bundle and in an upload body.
    private static let longestStart = 2 << 20

    /// Whether the server knows If-Match: it refuses HEAD with an ETag that nothing has.
    private func obeysIfMatch(_ upload: Upload) -> Bool {
        head(upload.place, ifMatch: "\"capqueue-none\"", upload.control).answer?.status == 412
    }
}
