import CaptureNative

extension BundleError.Code {
    public static let bodyTruncated = Self("body.truncated")
    public static let bodyBoundary = Self("body.boundary")
    package static let bodyHeader = Self("body.header")
    static let bodyLimit = Self("body.limit")
    static let bodyDelimiter = Self("body.delimiter")
    static let bodySize = Self("body.size")
    static let bodyTrailing = Self("body.trailing")
    package static let bodyMetadata = Self("body.metadata")
}

/// Reads an upload body in one pass and produces the bytes of its bundle: rules U1 to U7 of Spec/upload.md.
///
/// The reader of the bundle verifies it. Afterwards, `check` checks the rules that need the whole body (U8, U9).
final class BodyReader: ByteStream {
    private enum State {
        case start, delimiter, payload, ended
        case data(remaining: Int, padding: Int)
    }

    private let source: BundleSource
    private var state = State.start
    /// Bytes of the bundle that are ready to be read.
    private var ready: [UInt8] = []
    private var boundary: MultipartBoundary?
    private var metadata: [UInt8] = []
    private var head = BundleReader.Head(manifest: [], assertion: [])
    private var manifest: Manifest?
    private var next = 0
    private var location: [UInt8]?
    private var current: ManifestEntry?
    private var scanner = BoundaryScanner()
    /// The candidates for the boundary that the manifest gives, and those candidates that occur in a part.
    private var candidates: [[UInt8]] = []
    private var occurring: Set<[UInt8]> = []
    private static let crlf = Array("\r\n".utf8)
    private static let dashes = Array("--".utf8)
    private static let firstLine =
        dashes + MultipartBoundary.prefix + Array(repeating: UInt8(ascii: "0"), count: MultipartBoundary.digits) + crlf
    private static let headerLimit = 1024

    init(_ source: BundleSource) { self.source = source }

    func fill(_ buffer: inout [UInt8]) throws(BundleError) -> Int {
        while ready.isEmpty {
            switch state {
            case .start: try readHead()
            case .payload: try readPartHeader()
            case .data(let remaining, let padding):
                if remaining > 0 { return try readData(remaining, padding, into: &buffer) }
                ready = [UInt8](repeating: 0, count: padding)
                state = .delimiter
            case .delimiter:
                try readDelimiter()
                state = .payload
            case .ended: return 0
            }
        }
        let count = min(ready.count, buffer.count)
        buffer.overwrite(at: 0, with: ready.span.extracting(first: count))
        ready.removeFirst(count)
        return count
    }

    private func readHead() throws(BundleError) {
        let line = try source.read(Self.firstLine.count)
        guard let boundary = Self.boundary(inFirst: line) else {
            let isBeginning = Self.boundary(inFirst: line + Self.firstLine.dropFirst(line.count)) != nil
            if isBeginning { throw truncated("inside its first line") }
            let kind = FileKind(line + (try source.read(FileKind.length - line.count)))
            let other = kind.flatMap { [.uploadBody, .text].contains($0.family) ? nil : $0 }
            throw BundleError(
                .bodyBoundary,
                other.map { "is \($0.words), not an upload body" }
                    ?? "is not an upload body: its first line is not a boundary line of capbundle",
                cause: .otherKind)
        }
        self.boundary = boundary
        metadata = try readPart(.metadata, limit: UploadMetadata.byteLimit)
        try requireAnother(.manifest)
        let manifest = try readPart(.manifest, limit: BundleLimits.manifestBytes)
        try requireAnother(.assertion)
        let assertion = try readPart(.assertion, limit: BundleLimits.assertionBytes)
        head = BundleReader.Head(manifest: manifest, assertion: assertion)
        ready =
            BundleMagic.bytes + UstarHeader.entry("manifest.json", manifest)
            + UstarHeader.entry(AssertionPlace.path, assertion)
        state = .payload
        for n in 0..<MultipartBoundary.candidates {
            candidates.append(try MultipartBoundary(manifest: manifest, n: n).bytes)
        }
        for data in [metadata, manifest, assertion] {
            var scanner = BoundaryScanner()
            try scanner.scan(data.span) { note($0) }
        }
        // A malformed manifest ends the reading: the reader of the bundle reports it and reads nothing after it.
        do {
            self.manifest = try Manifest.decode(manifest)
        } catch {
            guard error.verdict != nil else { throw error }
        }
    }

    private func note(_ match: [UInt8]) {
        if candidates.contains(match) { occurring.insert(match) }
    }

    private static func boundary(inFirst line: [UInt8]) -> MultipartBoundary? {
        guard line.starts(with: dashes), line.suffix(crlf.count) == crlf[...] else { return nil }
        return MultipartBoundary(Array(line.dropFirst(dashes.count).dropLast(crlf.count)))
    }

    /// Reads one of the first three parts. Its header is known, and its data ends at the first delimiter.
    private func readPart(_ part: BodyPart, limit: Int) throws(BundleError) -> [UInt8] {
        let expected = part.header
        let header = try source.read(expected.count)
        guard header == expected else {
            if expected.starts(with: header) { throw truncated("inside the header of a part") }
            throw BundleError(
                .bodyHeader, "the part header is not the one expected for the part \(part.name)")
        }
        let lead = Self.crlf + Self.dashes
        let mark = boundary?.bytes ?? []
        let (bytes, stop) = try source.read(through: mark, limit: limit + lead.count)
        if stop == .mark && bytes.suffix(lead.count) == lead[...] { return Array(bytes.dropLast(lead.count)) }
        // A part that is too long is refused at its first excess byte, unless the delimiter begins there.
        if stop == .mark && bytes.count + mark.count <= limit { throw delimiterInside(part.name) }
        if stop == .end {
            let starts = max(0, bytes.count - lead.count - mark.count)...bytes.count
            let mayGoOn = starts.contains { $0 <= limit && (lead + mark).starts(with: bytes[$0...]) }
            if mayGoOn { throw truncated("inside the part \(part.name)") }
        }
        throw BundleError(.bodyLimit, "the part \(part.name) has more than the \(limit) bytes allowed")
    }

    private func requireAnother(_ part: BodyPart) throws(BundleError) {
        _ = try readFollowing([Self.crlf], else: "a boundary is not followed by the part \(part.name)")
    }

    /// Reads the bytes after a boundary: one of `possible`, none of which is a prefix of another.
    private func readFollowing(_ possible: [[UInt8]], else message: String) throws(BundleError) -> [UInt8] {
        var found: [UInt8] = []
        while true {
            if possible.contains(found) { return found }
            let next = try source.read(1)
            guard possible.contains(where: { $0.starts(with: found + next) }) else {
                throw BundleError(.bodyHeader, message)
            }
            if next.isEmpty { throw truncated("after a boundary") }
            found += next
        }
    }

    private func readPartHeader() throws(BundleError) {
        let end = Self.dashes + Self.crlf
        let rest = manifest?.entries[next...] ?? []
        let message = "a boundary is not followed by the part of another entry or by the end"
        if try readFollowing(rest.isEmpty ? [end] : [Self.crlf, end], else: message) == end {
            guard try source.isAtEnd else {
                throw BundleError(.bodyTrailing, "has more bytes after its end, at offset \(source.position)")
            }
            ready = [UInt8](repeating: 0, count: 2 * UstarHeader.blockLength)
            state = .ended
            return
        }
        let (bytes, stop) = try source.read(through: Self.crlf + Self.crlf, limit: Self.headerLimit)
        let header = stop == .mark ? bytes + Self.crlf + Self.crlf : bytes
        guard let index = rest.firstIndex(where: { BodyPart($0).header == header }) else {
            let isBeginning = stop == .end && rest.contains { BodyPart($0).header.starts(with: header) }
            if isBeginning { throw truncated("inside the header of a part") }
            throw BundleError(
                .bodyHeader,
                "the part header does not fit any remaining entry of the manifest")
        }
        let entry = rest[index]
        next = index + 1
        current = entry
        if entry.path == .location { location = [] }
        scanner = BoundaryScanner()
        ready = UstarHeader.encode(name: entry.path.description.utf8, size: entry.size)
        state = .data(remaining: entry.size, padding: UstarHeader.padding(entry.size))
    }

    private func readData(
        _ remaining: Int, _ padding: Int, into buffer: inout [UInt8]
    ) throws(BundleError) -> Int {
        var filled = 0
        let count = try source.read(min(remaining, buffer.count)) { piece in
            try scanner.scan(piece) { match in
                if match == boundary?.bytes { throw delimiterInside(current?.path.description ?? "") }
                note(match)
            }
            buffer.overwrite(at: 0, with: piece)
            if current?.path == .location { location?.append(copying: piece) }
            filled = piece.count
        }
        if count == 0 { throw truncated("inside the part of \(current?.path.description ?? "")") }
        state = .data(remaining: remaining - filled, padding: padding)
        return filled
    }

    /// Reads the delimiter after an entry's data: rule U6.
    private func readDelimiter() throws(BundleError) {
        let expected = Self.crlf + Self.dashes + (boundary?.bytes ?? [])
        let found = try source.read(expected.count)
        if found == expected { return }
        if expected.starts(with: found) { throw truncated("after the part of \(current?.path.description ?? "")") }
        throw BundleError(
            .bodySize,
            "the part of \(current?.path.description ?? "") does not have the expected \(current?.size ?? 0) bytes")
    }

    private func truncated(_ place: String) -> BundleError {
        source.position == 0
            ? BundleError(.bodyTruncated, "is empty")
            : BundleError(.bodyTruncated, "ends after \(source.position) bytes, \(place)")
    }

    private func delimiterInside(_ name: String) -> BundleError {
        BundleError(.bodyDelimiter, "the boundary appears inside the part of \(name), or that part is cut short")
    }
}

extension BodyReader {
    /// Checks rules U8 and U9 for a body that has no other faults.
    func check(_ report: VerificationReport) throws(BundleError) -> [BundleError] {
        guard let manifest, let boundary, let deviceModel = report.metadata?.deviceModel else { return [] }
        var faults: [BundleError] = []
        let position = try location.map(GeoPosition.decode)
        let expected = UploadMetadata.encode(
            manifest: manifest, deviceModel: deviceModel, position: position, assertion: head.assertion)
        if metadata != expected {
            faults.append(BundleError(.bodyMetadata, "the part metadata differs from the signed metadata"))
        }
        if candidates.first(where: { !occurring.contains($0) }) != boundary.bytes {
            faults.append(
                BundleError(
                    .bodyBoundary, "the boundary is \(boundary.text), expected the one computed from the manifest"))
        }
        return faults
    }

    var candidate: Int { candidates.firstIndex { $0 == boundary?.bytes } ?? 0 }
}

/// An upload body that is read and hashed while it arrives.
package final class ArrivingBody {
    package let source: BundleSource
    private let hash: DigestStream

    private init(_ bytes: ByteHandover) throws(BundleError) {
        let hash = try DigestStream()
        self.hash = hash
        source = BundleSource(stream: bytes, name: "body") { try hash.update($0) }
    }

    /// Runs `body` on a thread of its own, which reads the pieces as they arrive.
    ///
    /// - Throws: As `ByteHandover.run`, but `io.failed` if no thread can be started.
    package static func read<Pieces: AsyncSequence & Sendable, Value: Sendable>(
        _ pieces: Pieces, _ body: @escaping @Sendable (ArrivingBody) throws -> Value
    ) async throws -> Value where Pieces.Element == [UInt8] {
        do {
            return try await ByteHandover.run(pieces) { bytes in try body(ArrivingBody(bytes)) }
        } catch let error as NativeError where error.call == Thread.startCall {
            throw BundleError(.inputOutput, "cannot start a thread: \(error.text)")
        }
    }

    /// Reads what is left, and returns the hash of the whole body.
    package func finish() throws(BundleError) -> Digest {
        try source.skipRest()
        return try hash.finish()
    }
}

extension ByteHandover: ByteStream {
    package func fill(_ buffer: inout [UInt8]) throws(BundleError) -> Int {
        do { return try read(into: &buffer) } catch { throw BundleError(.inputUnreadable, "ends before it is whole") }
    }
}
