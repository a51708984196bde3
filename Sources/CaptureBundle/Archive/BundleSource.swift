package import CaptureNative
public import SystemPackage

/// Bytes that are made as they are asked for.
package protocol ByteStream: AnyObject {
    /// Puts the next bytes at the start of `buffer` and returns how many; 0 at the end.
    func fill(_ buffer: inout [UInt8]) throws(BundleError) -> Int
}

/// The bytes of an open file or pipe.
package final class HandleStream: ByteStream {
    private let handle: FileHandle
    private let name: String

    package init(_ handle: FileHandle, name: String) {
        self.handle = handle
        self.name = name
    }

    package func fill(_ buffer: inout [UInt8]) throws(BundleError) -> Int {
        do { return try handle.readSome(into: &buffer) } catch { throw .reading(name, error) }
    }
}

/// Hands bytes on, and shows each piece to somebody first.
package final class CopyingStream: ByteStream {
    private let source: any ByteStream
    private let onPiece: (Span<UInt8>) throws(BundleError) -> Void

    package init(_ source: any ByteStream, _ onPiece: @escaping (Span<UInt8>) throws(BundleError) -> Void) {
        self.source = source
        self.onPiece = onPiece
    }

    package func fill(_ buffer: inout [UInt8]) throws(BundleError) -> Int {
        let count = try source.fill(&buffer)
        try onPiece(buffer.span.extracting(first: count))
        return count
    }
}

/// Where the bytes of a bundle or of an upload body come from: they are only ever read forwards, once, whether it is a file or
/// a pipe.
public final class BundleSource {
    private enum Origin {
        case file(FileHandle)
        case memory
        case stream(any ByteStream)
    }

    /// As messages and reports name it.
    public let name: String
    private let origin: Origin
    private var buffer: [UInt8]
    private var start = 0
    private var end = 0
    /// Bytes handed out so far.
    private(set) var position = 0

    private init(_ origin: Origin, name: String) {
        self.origin = origin
        self.name = name
        switch origin {
        case .file, .stream: buffer = [UInt8](repeating: 0, count: 1 << 16)
        case .memory: buffer = []
        }
    }

    /// Opens a file, or the standard input for `-`.
    ///
    /// - Throws: `input.unreadable` when there is none, or it is a folder.
    public convenience init(path: FilePath) throws(BundleError) {
        if path == "-" {
            self.init(handle: .standardInput, name: "-")
            return
        }
        try self.init(file: path)
    }

    /// Opens a file, be its name `-`.
    ///
    /// - Throws: as `init(path:)`.
    public convenience init(file path: FilePath) throws(BundleError) {
        do {
            self.init(handle: try FileHandle.reading(path), name: path.string)
        } catch {
            throw .reading(path, error)
        }
    }

    package convenience init(handle: FileHandle, name: String) { self.init(.file(handle), name: name) }

    /// Bytes in memory.
    public convenience init(bytes: [UInt8], name: String = "bundle") {
        self.init(.memory, name: name)
        buffer = bytes
        end = bytes.count
    }

    package convenience init(stream: any ByteStream, name: String) { self.init(.stream(stream), name: name) }

    /// Nothing was in it, or nothing was read yet.
    public var isEmpty: Bool { position == 0 }

    /// Of the file behind it; nil where there is none.
    var status: FileStatus? {
        if case .file(let handle) = origin { try? handle.status() } else { nil }
    }

    /// Makes the next bytes available; false at the end.
    private func fill() throws(BundleError) -> Bool {
        if start < end { return true }
        let count: Int
        switch origin {
        case .memory: return false
        case .stream(let stream): count = try stream.fill(&buffer)
        case .file(let handle):
            do { count = try handle.readSome(into: &buffer) } catch { throw .reading(name, error) }
        }
        start = 0
        end = count
        return end > 0
    }

    /// The next `count` bytes, or fewer where the source ends.
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

    /// Lends the next bytes, at most `limit`, to `body`; returns how many, 0 at the end.
    func lend(_ limit: Int, to body: (Span<UInt8>) throws(BundleError) -> Void) throws(BundleError) -> Int {
        guard try fill() else { return 0 }
        let taken = min(end - start, limit)
        let lent = buffer
        try body(lent.span.extracting(start..<(start + taken)))
        advance(taken)
        return taken
    }

    /// Passes over `count` bytes without reading those that a file can be asked to skip; returns how many there were, which
    /// a file that is shorter does not tell.
    func skip(_ count: Int) throws(BundleError) -> Int {
        var left = count
        while left > 0 {
            if start == end, case .file(let handle) = origin, handle.skip(left) {
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

    /// What `read(through:limit:)` came upon first.
    enum Stop { case mark, end, limit }

    /// Reads up to the first occurrence of `mark` and past it.
    ///
    /// - Parameter limit: at most so many bytes may stand before it.
    /// - Returns: the bytes before the mark; where there is none, all that were read.
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

    var isAtEnd: Bool {
        get throws(BundleError) { try !fill() }
    }

    private func advance(_ count: Int) {
        start += count
        position += count
    }
}
