package import CaptureNative
public import SystemPackage

/// A source of bytes that are produced when they are requested.
package protocol ByteStream: AnyObject {
    /// Writes the next bytes to the start of `buffer` and returns their number; 0 at the end.
    func fill(_ buffer: inout [UInt8]) throws(BundleError) -> Int
}

/// The source of the bytes of a bundle or an upload body. It is read forwards and only once, whether it is a file or a
/// pipe.
public final class BundleSource {
    private enum Origin {
        case file(FileHandle)
        case memory
        case stream(any ByteStream)
    }

    /// The name of the source in messages and reports.
    public let name: String
    private let origin: Origin
    private let onPiece: ((Span<UInt8>) throws -> Void)?
    private var buffer: [UInt8]
    private var start = 0
    private var end = 0
    /// The number of bytes that were read so far.
    private(set) var position = 0

    private init(_ origin: Origin, name: String, onPiece: ((Span<UInt8>) throws -> Void)? = nil) {
        self.origin = origin
        self.name = name
        self.onPiece = onPiece
        switch origin {
        case .file, .stream: buffer = [UInt8](repeating: 0, count: 1 << 16)
        case .memory: buffer = []
        }
    }

    /// Opens a file, or standard input for `-`.
    ///
    /// - Throws: `input.unreadable` if the file does not exist or is a folder.
    public convenience init(path: FilePath) throws(BundleError) {
        if path == "-" {
            self.init(handle: .standardInput, name: "-")
            return
        }
        try self.init(file: path)
    }

    /// Opens a file, even if its name is `-`.
    ///
    /// - Throws: The same errors as `init(path:)`.
    public convenience init(file path: FilePath) throws(BundleError) {
        self.init(handle: try native({ .opening(path, $0) }) { try FileHandle.reading(path) }, name: path.string)
    }

    /// - Parameter onPiece: Is shown each piece of the file as it is read, before anybody else.
    package convenience init(handle: FileHandle, name: String, onPiece: ((Span<UInt8>) throws -> Void)? = nil) {
        self.init(.file(handle), name: name, onPiece: onPiece)
    }

    /// Creates a source from bytes in memory.
    public convenience init(bytes: [UInt8], name: String = "bundle") {
        self.init(.memory, name: name)
        buffer = bytes
        end = bytes.count
    }

    /// - Parameter onPiece: As in `init(handle:name:onPiece:)`.
    package convenience init(stream: any ByteStream, name: String, onPiece: ((Span<UInt8>) throws -> Void)? = nil) {
        self.init(.stream(stream), name: name, onPiece: onPiece)
    }

    /// Whether no byte has been read: the source is empty, or reading has not begun.
    public var isEmpty: Bool { position == 0 }

    /// The status of the file; nil if the source is not a file.
    var status: FileStatus? {
        if case .file(let handle) = origin { try? handle.status() } else { nil }
    }

    /// Makes the next bytes available in the buffer; false at the end.
    private func fill() throws(BundleError) -> Bool {
        if start < end { return true }
        let count: Int
        switch origin {
        case .memory: return false
        case .stream(let stream): count = try stream.fill(&buffer)
        case .file(let handle): count = try native({ .reading(name, $0) }) { try handle.readSome(into: &buffer) }
        }
        if let onPiece {
            let piece = buffer
            try native { try onPiece(piece.span.extracting(first: count)) }
        }
        start = 0
        end = count
        return end > 0
    }

    /// Reads the next `count` bytes, or fewer if the source ends.
    func read(_ count: Int) throws(BundleError) -> [UInt8] {
        var bytes: [UInt8] = []
        bytes.reserveCapacity(min(count, 1 << 20))
        while bytes.count < count, try fill() {
            let taken = min(end - start, count - bytes.count)
            bytes += buffer[start..<(start + taken)]
            advance(taken)
        }
        return bytes
    }

    /// Passes the next bytes, at most `limit`, to `body` and returns their number; 0 at the end.
    package func read(_ limit: Int, to body: (Span<UInt8>) throws -> Void) throws(BundleError) -> Int {
        guard try fill() else { return 0 }
        let taken = min(end - start, limit)
        let piece = buffer
        try native { try body(piece.span.extracting(start..<(start + taken))) }
        advance(taken)
        return taken
    }

    /// Hashes the next bytes, at most `limit`, and passes them to `body`.
    package func digest(
        limit: Int = .max, _ body: (Span<UInt8>) throws -> Void = { _ in }
    ) throws(BundleError) -> Digest {
        let hash = try DigestStream()
        var left = limit
        while left > 0 {
            let count = try read(left) { piece in
                try hash.update(piece)
                try body(piece)
            }
            if count == 0 { break }
            left -= count
        }
        return try hash.finish()
    }

    /// Copies the bundle. The place receives nothing before the whole of it is read and its hash matches.
    ///
    /// - Throws: `entry.sha256` if the hash does not match; `input.unreadable`, `output.exists`, `output.unusable`,
    ///   `io.failed`.
    package func copy(to place: OutputPlace, sha256: Digest) throws(BundleError) {
        try OutputPlace.examine([place], reading: status)
        let target = try OutputTarget(place, holdsBack: true)
        let found = try digest { try target.write($0) }
        guard found == sha256 else {
            throw BundleError(.entrySHA256, "SHA-256 is \(found), expected \(sha256)", file: name)
        }
        try target.commit()
    }

    /// Skips `count` bytes and seeks instead of reading if the source is a regular file. It returns the number of
    /// skipped bytes; after a seek that is always `count`, even if the file is shorter.
    func skip(_ count: Int) throws(BundleError) -> Int {
        var left = count
        while left > 0 {
            if start == end, onPiece == nil, case .file(let handle) = origin, handle.skip(left) {
                position += left
                return count
            }
            guard try fill() else { break }
            let taken = min(end - start, left)
            advance(taken)
            left -= taken
        }
        return count - left
    }

    /// Reads a pipe to its end. A file stays where it is.
    func skipRest() throws(BundleError) {
        guard status?.kind != .file else { return }
        while try fill() { advance(end - start) }
    }

    /// The reason why `read(through:limit:)` stopped.
    enum Stop { case mark, end, limit }

    /// Reads up to and including the first occurrence of `mark`.
    ///
    /// - Parameter limit: The maximum number of bytes before the mark.
    /// - Returns: The bytes before the mark; if it was not found, all bytes that were read.
    func read(through mark: [UInt8], limit: Int) throws(BundleError) -> (bytes: [UInt8], stop: Stop) {
        var bytes: [UInt8] = []
        while bytes.count < limit + mark.count {
            guard try fill() else { return (bytes, .end) }
            let known = max(0, bytes.count - mark.count + 1)
            let taken = min(end - start, limit + mark.count - bytes.count)
            let before = bytes.count
            bytes.append(copying: buffer.span.extracting(start..<(start + taken)))
            if let offset = ByteSearch.first(mark, in: bytes.span, from: known) {
                advance(offset + mark.count - before)
                bytes.removeSubrange(offset...)
                return (bytes, .mark)
            }
            advance(taken)
        }
        return (bytes, .limit)
    }

    /// What the bytes are, judged by those that come next; nothing is handed out.
    package var kind: FileKind? {
        get throws(BundleError) { try fill() ? FileKind(Array(buffer[start..<end].prefix(FileKind.length))) : nil }
    }

    var isAtEnd: Bool {
        get throws(BundleError) { try !fill() }
    }

    private func advance(_ count: Int) {
        start += count
        position += count
    }
}

/// The claims of a bundle's headers, for callers that quickly need to know which bundle it may be. Only the manifest is
/// hashed, and no signature is checked.
package struct UnverifiedHead: Sendable {
    package let manifest: Manifest
    package let manifestSHA256: Digest
    /// The payload entries that have a header, in their order.
    package let present: [EntryPath]

    /// - Throws: `container.…` and `manifest.…` codes if the file is not a bundle.
    package init(_ source: BundleSource) throws(BundleError) {
        let reader = BundleReader(source)
        let head = try reader.readHead()
        manifest = try Manifest.decode(head.manifest)
        manifestSHA256 = try Digest.of(head.manifest)
        var present: [EntryPath] = []
        while let header = reader.nextHeader() {
            guard let entry = manifest.entries.first(where: { $0.path.description == header.name }), reader.skipData()
            else {
                throw BundleError(.containerUnlisted, "is not listed in the manifest", entry: header.name)
            }
            present.append(entry.path)
        }
        self.present = present
    }
}
